/* Frame records are the host's own: its compiler lays them out as ours do. */
#pragma once
