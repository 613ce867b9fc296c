/* main.mjs - runs the tests of the dashboard, one page each, and counts. */

import { openBrowser, runTests } from './harness.mjs';
import { Daemon } from './daemon.mjs';
import { tests as checks } from './checks.mjs';
import { tests as colors } from './colors.mjs';
import { tests as compare } from './compare.mjs';
import { tests as evidence } from './evidence.mjs';
import { tests as event } from './event.mjs';
import { tests as findings } from './findings.mjs';
import { tests as flat } from './flat.mjs';
import { tests as frame } from './frame.mjs';
import { close as closeLarge, tests as large } from './large.mjs';
import { tests as hostile } from './hostile.mjs';
import { tests as layer } from './layer.mjs';
import { tests as live } from './live.mjs';
import { close as closeMany, tests as many } from './many.mjs';
import { tests as overlap } from './overlap.mjs';
import { tests as overview } from './overview.mjs';
import { tests as pictures } from './pictures.mjs';
import { tests as pins } from './pins.mjs';
import { tests as query } from './query.mjs';
import { tests as report } from './report.mjs';
import { tests as secondLook } from './second_look.mjs';
import { tests as smallThings } from './small_things.mjs';
import { tests as tall } from './tall.mjs';
import { tests as tasks } from './tasks.mjs';
import { tests as timeline } from './timeline.mjs';
import { tests as timelineParts } from './timeline_parts.mjs';
import { tests as smooth } from './timeline_smooth.mjs';
import { tests as traces } from './traces.mjs';
import { tests as walks } from './walks.mjs';
import { tests as whatIf } from './whatif.mjs';
import { tests as whereIs } from './where_is.mjs';
import { tests as types } from './types.mjs';

const daemon = await Daemon.start({ traces: ['unet3d-v100'] });
const browser = await openBrowser();
let failed = 1;
try {
    failed = await runTests({ browser, daemon, words: process.argv.slice(2) }, [
        ...types,
        ...traces,
        ...overview,
        ...live,
        ...overlap,
        ...layer,
        ...flat,
        ...query,
        ...event,
        ...compare,
        ...report,
        ...findings,
        ...evidence,
        ...tasks,
        ...timeline,
        ...timelineParts,
        ...frame,
        ...whereIs,
        ...whatIf,
        ...secondLook,
        ...smallThings,
        ...many,
        ...walks,
        ...hostile,
        ...pins,
        ...checks,
        ...colors,
        ...large,
        ...tall,
        ...smooth,
        ...pictures,
    ]);
} finally {
    await browser.close();
    await closeLarge();
    await closeMany();
    await daemon.stop();
}
process.exit(failed ? 1 : 0);
