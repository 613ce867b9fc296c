/* timeline_smooth.mjs - the timeline of four million events: how soon it is there, and that it never goes blank while
 * somebody pans and zooms for ten seconds.
 *
 * Frames a second and the longest task are printed beside what the design allows; a machine that is busy must not fail
 * a test. What every frame must have is colour: boxes or densities, of whatever resolution is there. */

import assert from 'node:assert/strict';
import { clicked, large } from './large.mjs';
import { whole } from './timeline.mjs';

const SECONDS = Number(process.env.WANDER_SECONDS ?? 10); // 300: what the heap is after five minutes

/** Watches all frames for a while: how many, the longest task, and how many had no coloured pixel among a sample. */
function watched(page) {
    return page.evaluate(
        (seconds) =>
            new Promise((resolve) => {
                const canvas = document.querySelector('.tl-canvas'),
                    pen = new OffscreenCanvas(96, 48).getContext('2d', { willReadFrequently: true });
                const times = [],
                    tasks = [];
                let blank = 0;
                pen.imageSmoothingEnabled = false;
                const observer = new PerformanceObserver((list) => {
                    for (const { duration } of list.getEntries()) tasks.push(duration);
                });
                observer.observe({ entryTypes: ['longtask'] });
                const colored = () => {
                    pen.drawImage(canvas, 0, 28, canvas.width, canvas.height - 28, 0, 0, 96, 48);
                    const { data } = pen.getImageData(0, 0, 96, 48);
                    for (let at = 0; at < data.length; at += 4)
                        if (
                            Math.max(data[at], data[at + 1], data[at + 2]) -
                                Math.min(data[at], data[at + 1], data[at + 2]) >
                            40
                        )
                            return true;
                    return false;
                };
                const look = (now) => {
                    times.push(now);
                    if (!colored()) blank++;
                    if (now - times[0] < seconds * 1000) {
                        requestAnimationFrame(look);
                        return;
                    }
                    observer.disconnect();
                    resolve({
                        frames: times.length,
                        seconds: (now - times[0]) / 1000,
                        longest: Math.max(0, ...tasks),
                        blank,
                    });
                };
                requestAnimationFrame(look);
            }),
        SECONDS,
    );
}

/** Zooms in, pans there and back, zooms out, at the pointer; so it stays where events are, however long. */
async function wander(page, until) {
    const box = await page.locator('.tl-canvas').boundingBox();
    const turns = [
        ['Control', -60],
        ['Shift', 40],
        ['Shift', -40],
        ['Control', 60],
    ];
    for (let step = 0; Date.now() < until; step++) {
        const [key, by] = turns[Math.floor(step / 40) % turns.length];
        await page.mouse.move(box.x + 300 + ((step * 37) % 600), box.y + 200);
        await page.keyboard.down(key);
        await page.mouse.wheel(0, by);
        await page.keyboard.up(key);
        await page.waitForTimeout(16);
    }
}

/** Bytes that scripts hold, once what is garbage was collected. */
async function heapBytes(page) {
    const client = await page.context().newCDPSession(page);
    await client.send('HeapProfiler.collectGarbage');
    const { usedSize } = await client.send('Runtime.getHeapUsage');
    await client.detach();
    return usedSize;
}

async function neverBlank(page) {
    const { daemon, trace } = await large();
    await page.goto(`${daemon.base}/?page=traces`);
    await page.locator('table.cards').waitFor();
    const first = await clicked(
        page,
        `?page=timeline&trace=${trace.id}`,
        '.tl-stage[data-boxes]:not([data-boxes="0"])',
    );
    await whole(page);
    const watching = watched(page);
    await wander(page, Date.now() + SECONDS * 1000);
    const { frames, seconds, longest, blank } = await watching;
    console.log(
        `   first picture after ${Math.round(first)} ms (1000 are allowed); ${(frames / seconds).toFixed(1)} frames a second (55 are wanted), longest task ${Math.round(longest)} ms`,
    );
    console.log(`   heap after ${SECONDS} s: ${((await heapBytes(page)) / 1e6).toFixed(1)} MB (150 are allowed)`);
    assert.ok(frames > 10, 'there were frames');
    assert.equal(blank, 0, `of ${frames} frames`);
    await whole(page);
}

export const tests = [{ name: 'large: the timeline never goes blank', body: neverBlank }];
