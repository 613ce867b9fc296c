/* pictures.mjs - screenshots of every page, for whoever changes one: 1440 and 390 px, light and dark.  What a picture
 * can show by itself is checked too: nothing wider than the window. */

import assert from 'node:assert/strict';
import path from 'node:path';
import { slowerRun } from './compare.mjs';
import { shots } from './harness.mjs';
import { sampleTrace } from './tasks.mjs';

export const PAGES = [
    { name: 'traces', address: () => '/', ready: 'table.cards' },
    {
        name: 'add a trace',
        address: (trace) => `/?add=${encodeURIComponent(path.dirname(trace.path))}`,
        ready: 'dialog .folder-list li',
    },
    { name: 'overview', address: (trace) => `/?page=overview&trace=${trace.id}`, ready: '.chart canvas' },
    {
        name: 'overview lines',
        address: (trace) => `/?page=overview&trace=${trace.id}&metric=bw_busy&from=5&to=30`,
        ready: '.chart canvas',
    },
    {
        name: 'overview table',
        address: (trace) => `/?page=overview&trace=${trace.id}&as=series`,
        ready: '.chart-table',
    },
    {
        name: 'overview compatible',
        address: (trace) => `/?page=overview&trace=${trace.id}&semantics=compatible`,
        ready: '.chart canvas',
    },
    {
        name: 'layer',
        address: (trace) => `/?page=layer&trace=${trace.id}&layer=reader_posix_lustre`,
        ready: '.grid tbody tr',
    },
    {
        name: 'layer by file',
        address: (trace) =>
            `/?page=layer&trace=${trace.id}&layer=reader_posix_lustre&by=file_name&spread=bars&as=sizes`,
        ready: '.grid tbody tr',
    },
    {
        name: 'layer compatible',
        address: (trace) =>
            `/?page=layer&trace=${trace.id}&layer=reader_posix_lustre&semantics=compatible&granularity=5`,
        ready: '.grid tbody tr',
    },
    { name: 'flat', address: (trace) => `/?page=flat&trace=${trace.id}&by=process`, ready: '.grid tbody tr' },
    {
        name: 'flat compatible',
        address: (trace) => `/?page=flat&trace=${trace.id}&semantics=compatible&granularity=5`,
        ready: '.grid tbody tr',
    },
    { name: 'overlap', address: (trace) => `/?page=overlap&trace=${trace.id}`, ready: '.chart canvas' },
    {
        name: 'causes',
        address: (trace) => `/?page=overlap&trace=${trace.id}&attribution=stall&by=step`,
        ready: '.chart canvas',
    },
    { name: 'steps', address: (trace) => `/?page=steps&trace=${trace.id}`, ready: '.chart canvas' },
    {
        name: 'timeline',
        address: (trace) => `/?page=timeline&trace=${trace.id}`,
        ready: '.tl-stage[data-state="whole"]',
    },
    {
        name: 'timeline event',
        address: (trace) =>
            `/?page=timeline&trace=${trace.id}&event=${encodeURIComponent('func_name == "pread" and dur > 500000')}`,
        ready: '.tl-event',
    },
    { name: 'flame', address: (trace) => `/?page=flame&trace=${trace.id}`, ready: '.flame-canvas' },
    {
        name: 'sandwich',
        address: (trace) => `/?page=flame&trace=${trace.id}&panel=sandwich&name=pread`,
        ready: '.flame-canvas',
    },
    {
        name: 'presets',
        address: (trace) => `/?page=presets&trace=${trace.id}`,
        ready: '[aria-label="Preview"] tbody tr',
    },
    { name: 'jobs', address: () => '/?page=jobs', ready: 'table' },
    { name: 'query', address: (trace) => `/?page=query&trace=${trace.id}`, ready: '.grid tbody tr' },
    {
        name: 'query chart',
        address: (trace) =>
            `/?page=query&trace=${trace.id}&group=second+%3D+bin(time_start%2C+1)%2C+cat&agg=calls+%3D+count()&show=chart`,
        ready: '.chart canvas',
    },
    { name: 'query bars', address: (trace) => `/?page=query&trace=${trace.id}&show=chart`, ready: '.chart canvas' },
    {
        name: 'query events',
        address: (trace) =>
            `/?page=query&trace=${trace.id}&ask=events&order=-time&columns=func_name,time,time_start,pid,size,file_name,args.ret`,
        ready: '.grid tbody tr',
    },
    {
        name: 'event',
        address: (trace) =>
            `/?page=query&trace=${trace.id}&ask=events&event=${encodeURIComponent('func_name == "pread" and dur > 500000')}`,
        ready: 'dialog .facts',
    },
    {
        name: 'compare',
        address: (trace, other) => `/?page=compare&traces=${trace.id},${other.id}`,
        ready: '.grid tbody tr',
    },
    {
        name: 'what if',
        address: (trace) => `/?page=whatif&trace=${trace.id}&if_storage=0.5&if_workers=4`,
        ready: '.card[aria-label="Train time by workers"] canvas',
    },
    {
        name: 'findings',
        address: (trace) => `/?page=findings&trace=${trace.id}&rule=input_bound`,
        ready: '.finding[open]',
    },
    {
        name: 'overview of tasks',
        address: (trace, other, dask) => `/?page=overview&trace=${dask.id}`,
        ready: '.chart canvas',
    },
    {
        name: 'tasks',
        address: (trace, other, dask) => `/?page=tasks&trace=${dask.id}`,
        ready: '.card[aria-label="What held it back"]',
    },
    { name: 'report', address: (trace) => `/?page=report&trace=${trace.id}`, ready: '.breakdown-legend li' },
];

async function pictureOf(browser, daemon, traces, { name, address, ready }, width, colorScheme) {
    const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
    const page = await context.newPage();
    try {
        await page.goto(daemon.base + address(...traces));
        await page.locator(ready).first().waitFor();
        await page.waitForTimeout(300);
        await page.screenshot({ path: path.join(shots, `${name} ${width} ${colorScheme}.png`), fullPage: true });
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        assert.ok(wide <= 0, `${name} is ${wide} px wider than ${width} px`);
    } finally {
        await context.close();
    }
}

async function picturesAreTaken(page, daemon, browser) {
    const traces = [await daemon.trace('unet3d-v100'), await slowerRun(daemon), await sampleTrace(daemon)];
    for (const one of PAGES) {
        for (const width of [1440, 390]) {
            for (const scheme of ['light', 'dark']) await pictureOf(browser, daemon, traces, one, width, scheme);
        }
    }
}

export const tests = [{ name: 'pictures: every page at 1440 and 390 px, light and dark', body: picturesAreTaken }];
