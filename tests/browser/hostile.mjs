/* hostile.mjs - names that are markup, switch the direction of text, are very long or cannot be seen: on every page
 * they are text, nothing of them runs, and no page grows wider than the window. */

import assert from 'node:assert/strict';
import { idle } from './harness.mjs';

const NAMES = [
    '<img src=x onerror="window.taken=1">',
    '</script><script>window.taken=1</script>',
    '"><svg onload=window.taken=1>',
    "' onmouseover='window.taken=1",
    'javascript:window.taken=1',
    '\u202egnp.exe\u202c \u2066right to left',
    'a\u0000b\u0007c\u001b[31md\u007f\u0085\u2028\u2029',
    'e\u0301'.repeat(200),
    'n'.repeat(10240),
    '\ud83d\ude00 \ufeff\u200b\ufffe',
    '__proto__',
    'constructor',
    'toString',
    '$' + '{window.taken=1}{{window.taken=1}}',
    '%s%n%00',
    'a;b\tc\nd',
    '',
    '   ',
];
const SEEN =
    'main .notice:visible, main .card:visible, main .empty:visible, main .tl-canvas:visible, main canvas:visible';

/** A training of two ranks in which everything that has a name has each of these. */
function lines() {
    const all = [];
    let id = 0;
    const add = (pid, name, cat, ts, dur, args = {}) =>
        all.push(
            JSON.stringify({ id: id++, name, cat, pid, tid: pid, ts: 1700000000000000 + ts, dur, ph: 'X', args }),
        );
    NAMES.forEach((name, at) => {
        all.push(
            JSON.stringify({
                id: id++,
                name: 'FH',
                cat: 'dftracer',
                pid: 1,
                tid: 1,
                ph: 'M',
                args: { name: `/${name}`, value: `f${at}` },
            }),
            JSON.stringify({
                id: id++,
                name: 'HH',
                cat: 'dftracer',
                pid: 1,
                tid: 1,
                ph: 'M',
                args: { name, value: `h${at}` },
            }),
        );
    });
    for (const pid of [1, 2]) {
        add(pid, 'DLIOBenchmark._train', 'dlio_benchmark', 0, 1000000);
        for (let step = 1; step <= NAMES.length; step++) {
            const from = step * 40000,
                name = NAMES[step - 1];
            add(pid, 'read', 'POSIX', from, 9000 * pid, {
                ret: 4096,
                fhash: `f${step - 1}`,
                hhash: `h${step - 1}`,
                step,
            });
            add(pid, name, name, from + 100, 8000, { [name || 'none']: name, note: name, step });
            add(pid, 'TorchFramework.compute', 'ai_framework', from + 20000, 15000, { epoch: 1, step });
        }
    }
    return `[\n${all.join('\n')}\n]\n`;
}

async function namesAreTextEverywhere(page, daemon) {
    const trace = await daemon.ingestFiles('<b>hostile', { 'a.pfw': lines() });
    assert.ok(trace.events > 3 * NAMES.length, JSON.stringify(trace));
    const pages = [
        'page=overview',
        'page=findings',
        'page=steps',
        'page=flat',
        'page=layer&layer=reader_posix',
        'page=overlap',
        'page=overlap&attribution=stall', // refused where the preset has no such chain
        'page=query&ask=groups&group=func_name,cat,host_name,file_name&agg=calls%20%3D%20count()',
        'page=query&ask=events',
        'page=report',
        'page=timeline&color=name',
        'page=timeline&color=category&panel=selection',
        'page=timeline&panel=events',
        'page=flame',
    ];
    for (const preset of ['dlio', 'generic'])
        for (const width of [1440, 390])
            for (const where of pages) {
                await page.setViewportSize({ width, height: 900 });
                await page.goto(`${daemon.base}/?${where}&trace=${trace.id}&preset=${preset}`);
                await page
                    .locator(SEEN)
                    .first()
                    .waitFor()
                    .catch((error) => assert.fail(`${where}, preset ${preset}, ${width}: ${error}`));
                await idle(page);
                const { taken, over, strange } = await page.evaluate(() => ({
                    taken: window.taken,
                    over: document.documentElement.scrollWidth - innerWidth,
                    strange: document.querySelectorAll('main img, main script, main svg[onload], main [onmouseover]')
                        .length,
                }));
                assert.equal(taken, undefined, `${where}: a name ran`);
                assert.equal(strange, 0, `${where}: a name is markup`);
                assert.ok(over <= 0, `${where}, preset ${preset}: ${over} pixels too wide at ${width}`);
            }
    await page.goto(`${daemon.base}/api/v1/traces/${trace.id}/report.html`);
    assert.equal(await page.evaluate(() => window.taken), undefined);
    assert.equal(await page.locator('img, script').count(), 0);
}

export const tests = [{ name: 'hostile names are text on every page', body: namesAreTextEverywhere, expected: /400/ }];
