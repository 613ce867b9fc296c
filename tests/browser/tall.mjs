/* tall.mjs - the rows of a table that is higher than a browser can scroll: each can be reached, without reading those
 * between. */

import assert from 'node:assert/strict';
import { settled } from './harness.mjs';
import { gridRows } from './layer.mjs';
import { large } from './large.mjs';

const SHOWN = 'ts,func_name,pid,tid';

async function openEvents(page) {
    const { daemon, trace } = await large();
    const asked = [];
    page.on('request', (request) => {
        if (/\/events\?/.test(request.url())) asked.push(request.url());
    });
    await page.goto(`${daemon.base}/?page=query&trace=${trace.id}&ask=events&show=table&columns=${SHOWN}&filters=off`);
    await settled(page);
    const rowsAt = async (offset) => {
        const { columns, data } = await daemon.get(
            `traces/${trace.id}/events?preset=dlio&filters=off&columns=${SHOWN}&offset=${offset}&limit=40`,
        );
        return data.map((row) => Object.fromEntries(row.map((value, at) => [columns[at], value])));
    };
    const count = (await daemon.get(`traces/${trace.id}/events?preset=dlio&filters=off&limit=0`)).row_count;
    return { asked, rowsAt, count };
}

/** Numbers of the first and last row in sight, from 0, below the head. */
function inSight(page) {
    return page.locator('.grid').evaluate((grid) => {
        const top = grid.getBoundingClientRect().top + grid.querySelector('thead').offsetHeight,
            bottom = grid.getBoundingClientRect().top + grid.clientHeight;
        const rows = [...grid.querySelectorAll('tbody tr[aria-rowindex]')].filter((row) => {
            const box = row.getBoundingClientRect();
            return box.bottom > top + 1 && box.top < bottom - 1;
        });
        return [rows[0], rows[rows.length - 1]].map((row) => Number(row.getAttribute('aria-rowindex')) - 2);
    });
}

const filled = (page) =>
    page.waitForFunction(
        () => ![...document.querySelectorAll('.grid tbody td.quiet')].some((td) => td.innerText === '\u2026'),
    );

async function endAndHome(page) {
    const { asked, rowsAt, count } = await openEvents(page);
    await page.locator('.grid tbody tr[tabindex="0"]').focus();
    await page.keyboard.press('End');
    await page.locator(`.grid tbody tr[aria-rowindex="${count + 1}"]`).waitFor();
    await filled(page);
    assert.equal((await inSight(page))[1], count - 1);
    const shown = await gridRows(page);
    const [last] = await rowsAt(count - 1),
        drawn = shown[shown.length - 1];
    assert.deepEqual([drawn.Function, Object.values(drawn)[0]], [last.func_name, last.ts]);
    assert.ok(asked.length <= 4, `${asked.length} requests`);
    await page.keyboard.press('ArrowUp');
    assert.equal(
        await page.evaluate(() => document.activeElement.getAttribute('aria-rowindex')),
        String(count),
        'the row before the last has the focus',
    );
    await page.keyboard.press('Home');
    await page.locator('.grid tbody tr[aria-rowindex="2"]').waitFor();
    assert.equal((await inSight(page))[0], 0);
}

async function wheelAndThumb(page) {
    const { asked, rowsAt, count } = await openEvents(page);
    await page.locator('.grid').hover();
    const [before] = await inSight(page);
    await page.mouse.wheel(0, 330);
    await page.waitForFunction(() => document.querySelector('.grid').scrollTop > 0);
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    assert.equal((await inSight(page))[0], before + 10, 'a wheel moves by as many pixels as anywhere');
    await page.locator('.grid').evaluate((grid) => {
        grid.scrollTop = grid.scrollHeight / 2;
    });
    await page.waitForFunction(
        (half) =>
            Math.abs(Number(document.querySelector('.grid tbody tr[aria-rowindex]').ariaRowIndex) - half) < half / 10,
        count / 2,
    );
    await filled(page);
    const [first] = await inSight(page);
    assert.ok(Math.abs(first - count / 2) < count / 100, `row ${first} of ${count} in the middle`);
    const wanted = (await rowsAt(first))[0];
    const row = page.locator(`.grid tbody tr[aria-rowindex="${first + 2}"]`);
    assert.equal(Number(await row.locator('data').first().getAttribute('value')), wanted.ts);
    assert.ok(asked.length <= 4, `${asked.length} requests`);
}

export const tests = [
    { name: 'tall: End shows the last of all rows, by a few requests', body: endAndHome },
    { name: 'tall: a wheel moves by rows, the thumb through all', body: wheelAndThumb },
];
