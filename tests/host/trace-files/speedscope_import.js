// Files through the importer of speedscope's own release, without its page: node speedscope_import.js RELEASE.js FILE...
// A line of JSON for each file: its profiles, with their names, frames and total weights.
"use strict";
const fs = require("fs");

// The page's script is one function; its importer is called by name from one place. What comes behind draws.
const script = fs.readFileSync(process.argv[2], "utf8");
const found = /async function (\w+)\((\w+),(\w+)\)\{return\(await \w+\)\.importProfileGroupFromText\(\2,\3\)\}/.exec(script);
if (!found) throw new Error("no importer in " + process.argv[2]);
const at = found.index + found[0].length;

const anything = new Proxy(function () {}, {
  get: (target, key) => (key === Symbol.toPrimitive ? () => "" : anything),
  apply: () => anything,
  construct: () => anything,
});
for (const name of ["window", "document", "localStorage", "matchMedia", "requestAnimationFrame"]) globalThis[name] ??= anything;

async function main() {
  try {
    (0, eval)(script.slice(0, at) + `;globalThis.speedscopeImport=${found[1]};` + script.slice(at));
  } catch (error) {
    if (!globalThis.speedscopeImport) throw error; // else the page could not be drawn, as expected
  }
  for (const path of process.argv.slice(3)) {
    const group = await globalThis.speedscopeImport(path, fs.readFileSync(path, "utf8"));
    if (!group) throw new Error(path + ": not imported");
    const profiles = group.profiles.map((profile) => {
      let slices = 0;
      profile.forEachCall(() => slices++, () => {});
      return { name: profile.getName(), slices, weight: profile.getTotalWeight() };
    });
    console.log(JSON.stringify({ name: group.name, profiles }));
  }
}
process.on("unhandledRejection", (error) => { console.error(error); process.exit(1); });
main();
