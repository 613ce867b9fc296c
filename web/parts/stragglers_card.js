/* stragglers_card.js - ranks, processes, hosts or files beside each other: how far each is from the median, slowest
 * first. */

import { postOf } from '../api.js';
import { fill, h, refill } from '../dom.js';
import { grouped, text } from '../format.js';
import { go } from '../state.js';
import { latestRequest } from './latest_request.js';
import { stallRequest } from './causes.js';
import { whenNear } from './near.js';
import { empty } from './notice.js';
import { unitName } from './overlap_request.js';
import { segmented } from './segmented.js';
import { recordsOf, scrolling, table } from './table.js';
import { laneOf, timelineLink } from './timeline_links.js';

const MOST = 5,
    FAR = 3.5;

/* What is compared: the same as the rules of findings ask. */
const KINDS = {
    rank: {
        label: 'Ranks',
        one: 'rank',
        unit: 's',
        words: 'stall',
        ask: { by: 'rank', measure: 'busy', of: 'stall' },
        needs: 'stall',
    },
    process: {
        label: 'Processes',
        one: 'process',
        unit: 's',
        words: 'time in reads',
        ask: { by: 'process', measure: 'busy', of: 'io_cat == 1' },
    },
    host: {
        label: 'Hosts',
        one: 'host',
        unit: 'B/s',
        words: 'bandwidth of reads',
        ask: { by: 'host', measure: 'bw', of: 'io_cat == 1 and size > 0' },
    },
    file: {
        label: 'Files',
        one: 'file',
        unit: 'B/s',
        words: 'bandwidth of reads of at least 1 MiB',
        ask: { by: 'file', measure: 'bw', of: 'io_cat == 1 and size > 0', least: 1048576 },
    },
};

export function stragglersCard() {
    const note = h('small', {}),
        tools = h('div', { class: 'card-tools' }),
        box = h('div', {});
    const element = h(
        'section',
        { class: 'card', 'aria-label': 'Stragglers' },
        h('header', { class: 'card-head' }, h('h2', {}, 'Stragglers'), note, tools),
        box,
    );
    const reading = latestRequest(box),
        sight = whenNear(element);
    let shown = ''; /* the request that the box is about */

    function update({ trace, place, preset }) {
        const offered = Object.entries(KINDS).filter(
            ([, { needs }]) => !needs || preset.attribution.some(({ name }) => name === needs),
        );
        const [key, kind] = offered.find(([name]) => name === place.stragglers) ?? offered[0];
        const { filters: _, ...common } = stallRequest(place, trace),
            path = `traces/${trace.id}/stragglers`,
            request = { ...common, ...kind.ask, limit: MOST };
        refill(
            tools,
            segmented(
                'Compare',
                offered.map(([name, { label }]) => [name, label]),
                key,
                (name) => go({ stragglers: name === offered[0][0] ? null : name }),
            ),
        );
        const words = JSON.stringify([trace.answers, request]);
        const ask = () =>
            reading.send({
                request: words,
                what: 'Comparing',
                path,
                height: 120,
                load: (signal) => postOf(trace, path, request, signal),
                show: (answer) =>
                    draw(answer, kind, { from: Number(place.from ?? 0), to: Number(place.to ?? trace.job_time) }),
            });
        if (!sight.act(ask) && words !== shown) forget();
        shown = words;
    }

    /** Nothing of another request stays in a place that nobody looks at. */
    function forget() {
        reading.close();
        box.classList.remove('outdated');
        fill(box);
    }

    function draw(answer, { one, unit, words }, span) {
        const { median, members, slow } = answer,
            rows = recordsOf(answer.rows),
            hosts = new Set(rows.map((row) => row.host_name)).size;
        fill(note, words);
        if (median === null || rows.length === 0) {
            fill(
                box,
                empty(
                    'Too few to compare',
                    h('p', {}, members === 0 ? 'No such event is here.' : 'A median needs three at least.'),
                ),
            );
            return;
        }
        const nameOf = (row) =>
            row.file_name
                ? h('span', { class: 'path', title: row.file_name }, row.file_name.replace(/^.*\//, ''))
                : row.pid === undefined || row.pid === null
                  ? unitName(row, hosts)
                  : h(
                        'a',
                        {
                            href: timelineLink({ ...span, lane: laneOf('process', row) }),
                            title: 'Show on the timeline',
                        },
                        unitName(row, hosts),
                    );
        fill(
            box,
            h(
                'p',
                { class: 'median' },
                slow > 0
                    ? [
                          h('strong', {}, grouped(slow)),
                          ` of ${grouped(members)} ${slow === 1 ? 'is' : 'are'} far slower than the others; the median is `,
                      ]
                    : `None of ${grouped(members)} is far slower than the others; the median is `,
                h('data', { value: median }, text(median, unit)),
                members > rows.length ? `. The slowest ${rows.length} of ${grouped(members)}:` : '.',
            ),
            scrolling(
                'Slowest members',
                table({
                    caption: 'Stragglers',
                    rows,
                    decorate: (row, line) => {
                        if (row.slow) line.classList.add('chosen');
                    },
                    columns: [
                        { key: 'name', label: one[0].toUpperCase() + one.slice(1), class: 'head', cell: nameOf },
                        { key: 'value', label: words[0].toUpperCase() + words.slice(1), unit },
                        {
                            key: 'ratio',
                            label: 'Of the median',
                            unit: 'number',
                            get: (row) => (median > 0 ? row.value / median : null),
                        },
                        { key: 'z', label: 'Robust z', unit: 'number', title: `Beyond ${FAR}: far from the others` },
                        { key: 'epochs', label: 'Slow in epochs', unit: 'count' },
                    ],
                }),
            ),
        );
    }

    return {
        element,
        update,
        close() {
            sight.close();
            reading.close();
        },
    };
}
