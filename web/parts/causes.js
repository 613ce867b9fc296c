/* causes.js - attribution: each moment that ranks waited, given to one cause.  What the page Overlap shows when the
 * place names a chain. */

import { getOf, postOf } from '../api.js';
import { fill, h, setStyle } from '../dom.js';
import { DASH, grouped, instant, plural, text, value } from '../format.js';
import { go } from '../state.js';
import { latestRequest } from './latest_request.js';
import { bars } from './bars.js';
import { chartCard } from './chart_card.js';
import { copyMenu } from './copy.js';
import { swatch } from './layers.js';
import { failedFilter } from './notice.js';
import { unitName } from './overlap_request.js';
import { segmented } from './segmented.js';

import { recordsOf, scrolling, table } from './table.js';
import { showRange } from './time.js';

const KEYS = [
    ['unit', 'Rank'],
    ['epoch', 'Epoch'],
    ['step', 'Step'],
    ['bin', 'Time'],
];
const MOST = 400; /* bars */

/**
 * Causes in the order of their chain: what they are called, and their colours; what no cause was active in is hatched.
 */
export function paletteOf(chain, names) {
    return names.map((name, at) => {
        const cause = chain?.causes.find((one) => one.name === name);
        return {
            name,
            label: cause?.label ?? (name === 'untraced' ? 'no traced cause' : name),
            input: cause?.input ?? false,
            storage: cause?.storage ?? false,
            hatched: name === 'untraced',
            color: name === 'untraced' ? 'var(--line-strong)' : `var(--layer-${(at % 12) + 1})`,
        };
    });
}

/** What every call about stall is asked with: a preset's filters would leave parts of it out. */
export function stallRequest({ preset, filter, from, to }, trace) {
    const seconds = (words) => (words === undefined ? undefined : Number(words));
    return { preset: preset ?? trace.preset.name, filters: 'off', filter, from: seconds(from), to: seconds(to) };
}

/**
 * @param {Object} trace
 * @param {ReturnType<import('./control_bar.js').controlBar>} bar  of the page
 */
export function causesView(trace, bar) {
    const top = h('div', { class: 'stack' }),
        chart = chartCard({ name: 'causes', title: 'Causes', kind: bars });
    const reading = latestRequest(top),
        path = `traces/${trace.id}/overlap`;
    const boxes = [top, chart.element];
    chart.element.hidden = true;

    function update(place, granularity) {
        const request = stallRequest(place, trace),
            by = KEYS.some(([key]) => key === place.by) ? place.by : 'unit';
        const parameters = {
            ...request,
            attribution: place.attribution,
            by,
            granularity: by === 'bin' ? granularity : null,
        };
        const load = async (signal) => {
            const [answer, preset] = await Promise.all([
                getOf(trace, path, parameters, signal),
                getOf(trace, `presets/${request.preset}`, {}, signal),
            ]);
            return {
                ...answer,
                chains: preset.attribution,
                chain: preset.attribution.find(({ name }) => name === place.attribution),
                training: await trainingOf(request, preset, signal),
            };
        };
        const anew = reading.send({
            request: parameters,
            what: 'Giving each moment to a cause',
            path,
            height: 320,
            load,
            show: (answer) => {
                chart.element.hidden = false;
                draw(answer, place, parameters, granularity);
            },
            fail: (problem) => {
                chart.element.hidden = true;
                failedFilter(problem, bar, top);
            },
        });
        if (anew) bar.clear();
    }

    /** How long all ranks train, which shares of the stall in sentences are of; null: the preset knows no training. */
    async function trainingOf(request, { phases }, signal) {
        if (!phases?.training) return null;
        const attribution = { target: 'training', causes: ['training'], by: ['unit'], longest: 0 },
            body = { ...request, sets: { training: phases.training }, attribution, limit: 1 };
        return (await postOf(trace, path, body, signal)).attribution.time;
    }

    function draw(answer, place, parameters, granularity) {
        const { attribution, blocking, chain, chains, training } = answer,
            causes = paletteOf(
                chain,
                attribution.causes.map(({ name }) => name),
            );
        const choices = [
            ...chains.map(({ name, label }) => [name, label]),
            ...(chains.some(({ name }) => name === 'stall') ? [['layers', 'By layer']] : []),
        ];
        fill(
            top,
            h(
                'section',
                { class: 'card', 'aria-label': 'Where the time goes' },
                h(
                    'header',
                    { class: 'card-head' },
                    h('h2', {}, chain?.label ?? 'Stall by layer'),
                    h(
                        'small',
                        {},
                        `${attribution.target}, in ${plural(attribution.units, 'rank')}, without the preset\u2019s filters`,
                    ),
                    h(
                        'div',
                        { class: 'card-tools' },
                        segmented('Chain', choices, place.attribution, (name) =>
                            go({ attribution: name, cause: null }),
                        ),
                        h(
                            'button',
                            { class: 'button small', onclick: () => go({ attribution: null, by: null, cause: null }) },
                            'Sets',
                        ),
                        copyMenu(path, parameters, `${trace.name}-causes`),
                    ),
                ),
                sentence(attribution, causes, blocking, training),
                barOf(attribution, causes),
                scrolling('Table of causes', causeTable(attribution, causes, place.cause, blocking)),
            ),
        );
        const by = parameters.by,
            active = causes.map((cause, at) => ({ ...cause, at })).filter(({ at }) => attribution.causes[at].time > 0);
        chart.update({
            what: 'Giving each moment to a cause',
            path,
            parameters,
            load: async () => answer,
            file: `${trace.name}-causes`,
            exported: { path, parameters },
            tools: segmented(
                'By',
                /** @type {any} */ (
                    KEYS.filter(([key]) => key === 'unit' || key === 'bin' || attribution.target.includes('training'))
                ),
                by,
                (key) => go({ by: key === 'unit' ? null : key }),
            ),
            above: h(
                'p',
                { class: 'chart-key' },
                active.map((cause) => [swatch(cause), ` ${cause.label}`]),
            ),
            note:
                by === 'bin'
                    ? `in bins of ${text(granularity, 's')}, summed over ranks`
                    : by === 'unit'
                      ? 'time of each rank'
                      : 'summed over ranks',
            draw: () => dataOf(attribution.rows, by, active, granularity),
        });
    }

    return {
        boxes,
        update,
        close() {
            reading.close();
            chart.close();
        },
    };
}

/**
 * @param {any} attribution
 * @param {ReturnType<typeof paletteOf>} known
 * @param {any} [blocking]  of the chain of layers
 * @param {number|null} [given]  how long all ranks train
 */
export function sentence({ time, causes }, known, blocking, given) {
    const training = given ?? 0,
        share = (part) => training > 0 && [' (', value(part / training, 'share'), ' of training)'],
        whole = training > 0 && [', of ', value(training, 's'), ' of training'];
    if (blocking) {
        const self = blocking.nodes.find(({ name }) => name === blocking.bottleneck)?.self ?? 0;
        return h(
            'p',
            { class: 'answer' },
            'Of ',
            h('strong', {}, value(time, 's')),
            ' of stall, ',
            h('strong', {}, value(self, 's')),
            share(self),
            ` sits in ${blocking.path.join(' > ')} itself.`,
        );
    }
    const sum = (of) =>
            causes.reduce((total, cause, at) => total + (known[at][of] ? Math.round(cause.time * 1e6) : 0), 0) / 1e6,
        input = sum('input'),
        storage = sum('storage');
    return h(
        'p',
        { class: 'answer' },
        h('strong', {}, value(time, 's')),
        ' in all',
        whole,
        input > 0 && [': ', h('strong', {}, value(input, 's')), ' waiting for input', share(input)],
        storage > 0 && ['; in ', h('strong', {}, value(storage, 's')), ' storage was in use'],
        '.',
    );
}

export function barOf({ time, causes }, known) {
    return h(
        'div',
        {
            class: 'breakdown-bar',
            role: 'img',
            'aria-label': causes
                .filter((cause) => cause.time > 0)
                .map((cause) => `${cause.name} ${text(cause.share, 'share')}`)
                .join(', '),
        },
        causes.map((cause, at) => {
            if (!(cause.time > 0)) return null;
            const share = cause.time / time,
                element = h(
                    'span',
                    {
                        class: `segment${known[at].hatched ? ' hatched' : ''}`,
                        title: `${known[at].label}: ${text(cause.time, 's')}, ${text(share, 'share')}`,
                    },
                    share > 0.08 && h('span', { class: 'segment-text' }, text(share, 'share')),
                );
            setStyle(element, { '--share': share, '--color': known[at].color });
            return element;
        }),
    );
}

function causeTable({ causes }, known, chosen, blocking) {
    const nodes = new Map(blocking?.nodes.map((node) => [node.name, node]));
    const rows = causes.map((cause, at) => ({ ...cause, ...known[at], ...nodes.get(cause.name) }));
    return table({
        caption: 'Causes',
        rows,
        decorate: (row, element) => {
            if (row.name === chosen) element.classList.add('chosen');
        },
        columns: [
            {
                key: 'name',
                label: 'Cause',
                class: 'head',
                cell: (row) => [
                    swatch(row),
                    ' ',
                    row.label,
                    row.label !== row.name && h('span', { class: 'quiet' }, ` ${row.name}`),
                ],
            },
            { key: 'time', label: 'Time', unit: 's' },
            { key: 'share', label: 'Share', unit: 'share' },
            ...(blocking
                ? [
                      {
                          key: 'blocked',
                          label: 'Blocked',
                          unit: 's',
                          title: 'Its own time and that of the layers below it',
                          get: (row) => row.blocked ?? null,
                      },
                  ]
                : []),
            { key: 'active', label: 'Active', unit: 's', title: 'In how much of the stall it was active at all' },
            { key: 'intervals', label: 'Intervals', unit: 'count' },
            { key: 'units', label: 'Ranks', unit: 'count' },
            {
                key: 'longest',
                label: 'Longest',
                sortable: false,
                cell: (row) =>
                    row.longest.length === 0
                        ? DASH
                        : h(
                              'ul',
                              { class: 'plain-list' },
                              row.longest.map((one) =>
                                  h(
                                      'li',
                                      {},
                                      h(
                                          'button',
                                          {
                                              type: 'button',
                                              class: 'row-name',
                                              title: 'Show this interval',
                                              onclick: () => showRange(one.start, one.end),
                                          },
                                          `${text(one.time, 's')} at ${instant(one.start)}`,
                                      ),
                                      ' ',
                                      h('span', { class: 'quiet' }, unitName(one, 1)),
                                  ),
                              ),
                          ),
            },
        ],
    });
}

/** A stacked bar for each key; of many the first. */
function dataOf(answer, by, causes, granularity) {
    const rows = recordsOf(answer).filter((row) => by === 'unit' || row[by] !== null),
        hosts = new Set(rows.map((row) => row.host_name)).size,
        shown = rows.slice(0, MOST);
    if (rows.length === 0) return null;
    const nameOf = {
        unit: (row) => unitName(row, hosts),
        epoch: (row) => `epoch ${row.epoch}`,
        step: (row) => `${row.epoch}.${row.step}`,
        bin: (row) => instant(row.bin * granularity, granularity),
    }[by];
    return {
        names: shown.map(nameOf),
        stacked: true,
        lying: by === 'unit',
        unit: 's',
        head: { unit: 'Rank', epoch: 'Epoch', step: 'Epoch.step', bin: 'From' }[by],
        label: `Stall by cause${rows.length > MOST ? `, the first ${grouped(MOST)} of ${grouped(rows.length)}` : ''}`,
        series: causes.map((cause) => ({
            name: cause.label,
            color: cause.color,
            hatched: cause.hatched,
            values: shown.map((row) => row[cause.name]),
        })),
    };
}
