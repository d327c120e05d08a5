# What the heads of unit tests say, as assignments for make (mk/tests.mk), with | for spaces:
#     unit_sources_NAME:=a.c|b.c  unit_kinds_NAME:=asan|tsan  unit_include_NAME:=FOLDER
# One process reads all of them: make wants to know it at each call, whatever its goal.

# The text behind `word` in a comment of one line.
function said(line, word) { sub(".*/\\* " word ": ", "", line); sub(" ?\\*/.*", "", line); return line }

function sources(line) { unit["sources"] = unit["sources"] " " said(line, "sources") }

function put(what, value)
{
	gsub(/^ +| +$/, "", value)
	gsub(/ +/, "|", value)
	print "unit_" what "_" name ":=" value
}

function finish()
{
	if (!name)
		return
	put("sources", unit["sources"])
	put("kinds", "asan" unit["kinds"])
	put("include", unit["include"] ? unit["include"] : "tests/unit/include")
}

FNR == 1 {
	finish()
	delete unit
	name = FILENAME
	sub(/.*\//, "", name)
	sub(/_test\.c$/, "", name)
}
/\/\* sources: / { sources($0) }
/\/\* sanitizers: thread \*\// { unit["kinds"] = " tsan" }
/\/\* include: / { unit["include"] = said($0, "include") }
# Tests that share sources name the header that lists them.
/\/\* sources of: / {
	header = said($0, "sources of")
	while ((getline line < header) > 0)
		if (line ~ /\/\* sources: /)
			sources(line)
	close(header)
}
END { finish() }
