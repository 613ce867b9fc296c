/* layer.js - one layer: its figures, the kinds of its calls, how they spread over processes and time, and its rows. */

import { getOf } from '../api.js';
import { fill, h } from '../dom.js';
import { plural, text } from '../format.js';
import { latestRequest } from '../parts/latest_request.js';
import { isCompatible, parametersOf } from '../parts/control_bar.js';
import { distributionCard } from '../parts/distribution.js';
import { heatCard } from '../parts/heat_card.js';
import { kindsCard } from '../parts/kinds.js';
import { conditionOf, isPresent, layerTree, swatch } from '../parts/layers.js';
import { metricColumn } from '../parts/metrics.js';
import { failedFilter } from '../parts/notice.js';
import { rowsCard } from '../parts/rows_card.js';
import { otherKeys, rowButton, viewParameters, viewsOf } from '../parts/rows_by.js';
import { segmented } from '../parts/segmented.js';
import { seriesCard } from '../parts/series.js';
import { sizesCard } from '../parts/sizes.js';
import { slopeCard } from '../parts/slope_card.js';
import { bar } from '../parts/table.js';
import { tiles } from '../parts/tile.js';
import { tracePage } from '../parts/trace_page.js';
import { go, pageLink } from '../state.js';

export const title = 'Breakdown';

const USUAL = ['time', 'count', 'busy', 'size', 'bw_busy', 'exposed_group_sum', 'hidden_share', 'files', 'processes'];
const USUAL_COMPATIBLE = [
    'time_sum',
    'time_max',
    'count_sum',
    'size_sum',
    'bw_mean',
    'ops_mean',
    'time_per',
    'count_per',
    'ops_slope',
    'ops_pct',
];

/**
 * @param {HTMLElement} host
 * @param {Object} place
 */
export function open(host, place) {
    return tracePage(host, place, layerPicture);
}

function layerPicture(trace, bar) {
    const top = h('div', { class: 'stack' });
    const kinds = h('div', {}),
        over = distributionCard(),
        sizes = sizesCard(),
        series = seriesCard(),
        heat = heatCard(),
        slope = slopeCard();
    const rows = rowsCard({ onChoose: (names) => go({ columns: names?.join(',') }) });
    const pair = h('div', { class: 'pair' }, over.element, sizes.element);
    const cards = [kinds, pair, series.element, heat.element, slope.element, rows.element];
    const summing = latestRequest(top);
    const around = (shown) => {
        for (const card of cards) card.hidden = !shown;
    };
    around(false);

    function update(place, granularity) {
        const parameters = parametersOf(place);
        const anew = summing.send({
            request: [parameters, place.layer],
            what: 'Summing up the layers',
            path: `traces/${trace.id}/summary`,
            height: 200,
            load: (signal) => ask(parameters, place, signal),
            show: (answer) => draw(answer, place, parameters, granularity),
            fail: (problem) => {
                around(false);
                failedFilter(problem, bar, top);
            },
        });
        if (anew) bar.clear();
    }

    /** The summary, then which columns the layer's view has: they depend on the layer. */
    async function ask(parameters, place, signal) {
        const [summary, preset] = await Promise.all([
            getOf(trace, `traces/${trace.id}/summary`, parameters, signal),
            getOf(trace, `presets/${place.preset ?? trace.preset.name}`, {}, signal),
        ]);
        const name = summary.layers.some((layer) => layer.name === place.layer) ? place.layer : mostOf(summary.layers);
        const by = isCompatible(place) ? 'proc_name' : 'process';
        const { columns } = await getOf(
            trace,
            `traces/${trace.id}/views/layer`,
            { ...parameters, layer: name, by, limit: 0 },
            signal,
        );
        return { summary, preset, name, columns };
    }

    function draw({ summary, preset, name, columns }, place, parameters, granularity) {
        const compatible = isCompatible(place),
            span = Math.min(place.to ?? Infinity, summary.job_time) - (place.from ?? 0);
        const tree = layerTree(summary.layers, preset),
            layer = tree.find((one) => one.name === name);
        const given = preset.layers?.find((one) => one.name === name);
        const row = summary.layers.find((one) => one.name === name);
        const views = viewsOf(preset, compatible),
            rowsBy = views.find(({ by }) => by === place.by) ?? views[0];
        const binned = Number(parameters.granularity ?? granularity);
        const view = {
            trace,
            place,
            granularity: binned,
            parameters,
            layer: /** @type {import('../parts/layers.js').Layer} */ (layer),
            row,
            columns,
            metrics: given?.metrics ?? [],
            condition: conditionOf(preset, name),
        };
        const seen = new Map(summary.layers.map((one) => [one.name, isPresent(one)]));
        fill(
            top,
            place.layer &&
                place.layer !== name &&
                h(
                    'p',
                    { class: 'notice warn' },
                    `Preset ${summary.preset} has no layer ${place.layer}; this is ${name}.`,
                ),
            chooser(tree, seen, layer, view.condition, place),
            isPresent(row) &&
                tiles(
                    (compatible ? compatibleFigures : figuresOf)(row, summary, span).filter(
                        ({ unit }) => row.size > 0 || !unit?.startsWith('B'),
                    ),
                ),
        );
        around(isPresent(row));
        if (!isPresent(row)) {
            top.append(h('p', { class: 'notice' }, noEvents(name, place)));
            return;
        }
        kinds.hidden = compatible || view.metrics.length === 0;
        if (!kinds.hidden) fill(kinds, kindsCard(view));
        over.update(view);
        sizes.update(view);
        const family = tree.filter((one) => one === layer || one.parent === name);
        series.update({
            ...view,
            usual: name,
            tree: family,
            present: new Set(family.filter((one) => seen.get(one.name)).map((one) => one.name)),
        });
        heat.element.hidden = view.condition === undefined;
        if (view.condition !== undefined) heat.update(view);
        slope.element.hidden = !compatible;
        if (compatible) slope.update(view, rowsBy);
        rows.update(rowsView(view, rowsBy, views));
    }

    function close() {
        summing.close();
        for (const card of [over, sizes, series, heat, slope, rows]) card.close();
    }
    return { boxes: [top, ...cards], update, close };
}

function noEvents(name, { filter, from, to }) {
    return filter || from || to
        ? `No event of ${name} in this time range passes the filter.`
        : `The trace has no event of ${name}.`;
}

/** Where the address names no layer: the one that moved most bytes, else the one with most events. */
function mostOf(layers) {
    return [...layers].sort((a, b) => (b.size ?? 0) - (a.size ?? 0) || b.count - a.count)[0]?.name;
}

function chooser(tree, seen, layer, condition, place) {
    const select = h(
        'select',
        {
            id: 'layer',
            class: 'name',
            'aria-label': 'Layer',
            onchange: (event) => go({ layer: event.target.value, columns: null, sort: null, slope: null }),
        },
        tree.map((one) =>
            h(
                'option',
                { value: one.name, selected: one === layer },
                '\u2003'.repeat(one.depth) + one.name + (seen.get(one.name) ? '' : ' (no events)'),
            ),
        ),
    );
    return h(
        'div',
        { class: 'layer-head' },
        swatch(layer),
        select,
        h('span', { class: 'why' }, layer.label),
        condition && h('code', { class: 'hint', title: 'Which events are its' }, condition),
        condition !== undefined &&
            h(
                'a',
                {
                    class: 'button small',
                    href: pageLink('query', {
                        ask: 'events',
                        order: '-time',
                        filter: [condition, place.filter]
                            .filter(Boolean)
                            .map((one) => `(${one})`)
                            .join(' and '),
                    }),
                    title: 'One by one, the longest first',
                },
                'Show events',
            ),
    );
}

function figuresOf(row, { job_time: job }, span) {
    return [
        {
            label: span < job ? 'Share of range' : 'Share of job',
            number: span > 0 ? row.busy / span : null,
            unit: 'share',
            note: `of ${text(span, 's')}`,
            title: 'Part of that time in which at least one event was running, anywhere in the job',
        },
        {
            label: 'Wall time',
            number: row.busy,
            unit: 's',
            note: 'union of events',
            title: 'Length of the union of all events',
        },
        row.exposed_group_sum === undefined
            ? { label: 'Wall time of ranks', number: row.busy_group_sum, unit: 's', note: 'summed over ranks' }
            : {
                  label: 'Not overlapped',
                  number: row.exposed_group_sum,
                  unit: 's',
                  note: row.hidden_share === null ? null : `${text(row.hidden_share, 'share')} overlapped`,
                  title: 'Wall time during which the same rank was not computing, added up over ranks',
              },
        {
            label: 'Call time',
            number: row.time,
            unit: 's',
            note: row.count > 0 && `${text(row.time / row.count, 's')} an event`,
            title: 'Sum of the durations of all events',
        },
        { label: 'Events', number: row.count, note: row.count > 0 && `${text(row.ops, '1/s')} of call time` },
        { label: 'Size', number: row.size, unit: 'B', title: 'Bytes read and written' },
        {
            label: 'Bandwidth',
            number: row.bw_busy,
            unit: 'B/s',
            note: row.bw && `${text(row.bw, 'B/s')} per call`,
            title: 'Size over wall time: what the job got while it was transferring',
        },
        {
            label: 'Files',
            number: row.files,
            note: `by ${plural(row.processes, 'process', 'processes')}`,
            title: `${plural(row.threads, 'thread')} in ${plural(row.processes, 'process', 'processes')}`,
        },
    ];
}

function compatibleFigures(row, { job_time: job }) {
    return [
        {
            label: 'Call time',
            number: row.time,
            unit: 's',
            note: job > 0 && `${text(row.time / job, 'share')} of job`,
            title: 'Sum over time bins of the longest time of any thread',
        },
        {
            label: 'Unoverlapped',
            number: row.u_time,
            unit: 's',
            note: row.overlap === null ? null : `${text(row.overlap, 'share')} overlapped`,
        },
        { label: 'Events', number: row.count, note: text(row.ops, '1/s') },
        { label: 'Size', number: row.size, unit: 'B' },
        { label: 'Bandwidth', number: row.bandwidth, unit: 'B/s' },
        { label: 'Files', number: row.num_files, title: 'Of the time bin with most of them' },
        { label: 'Threads', number: row.num_processes, title: 'Of the time bin with most of them' },
    ];
}

function rowsView(view, rowsBy, views) {
    const { trace, place, granularity, parameters, layer, row, columns } = view;
    const compatible = isCompatible(place);
    const byTime = rowsBy.by === 'time_range';
    const offered = columns
        .filter((name) => !['host_name', 'pid', 'proc_name'].includes(name))
        .map((name) => metricColumn(name, {}, compatible))
        .map(({ key, label, title: meaning }) => ({ name: key, label, title: meaning }));
    const has = (name) => offered.some((one) => one.name === name);
    const idle = {
        processes: rowsBy.keys.includes('pid'),
        files: !row.files || rowsBy.by === 'file_name',
        size: !row.size,
        bw_busy: !row.size,
        size_sum: !row.size,
        bw_mean: !row.size,
    };
    const usual = (compatible ? USUAL_COMPATIBLE : USUAL).filter((name) => has(name) && !idle[name]);
    const chosen = place.columns ? place.columns.split(',').filter(has) : usual;
    const share = compatible ? 'time_sum' : 'time';
    return {
        title: `${layer.name} by ${rowsBy.label.toLowerCase()}`,
        note: byTime ? `in bins of ${text(granularity, 's')}` : null,
        tools: segmented(
            'Rows by',
            views.map(({ by, label }) => [by, label]),
            rowsBy.by,
            (by) => go({ by, sort: null, columns: place.columns }),
        ),
        trace,
        path: `traces/${trace.id}/views/layer`,
        parameters: {
            ...parameters,
            ...(byTime ? { granularity } : {}),
            layer: layer.name,
            ...viewParameters(rowsBy, compatible),
        },
        keys: rowsBy.keys,
        offered,
        chosen,
        sort: place.sort ?? (byTime ? undefined : `-${share}`),
        columns: ({ units, rows, columns: names }) => [
            {
                key: rowsBy.keys[0],
                label: rowsBy.head ?? rowsBy.label,
                class: 'head',
                cell: (record) => rowButton(rowsBy, record, granularity, trace.job_time),
            },
            ...otherKeys(rowsBy, trace),
            ...(chosen.includes(share) && !compatible && !byTime
                ? [
                      {
                          key: '',
                          label: 'Share',
                          class: 'bar-cell',
                          sortable: false,
                          title: 'Of the time of the layer; bars are as long as the longest here',
                          cell: shareCell(
                              rows.map((one) => one[names.indexOf(share)]),
                              row.time,
                              layer,
                          ),
                      },
                  ]
                : []),
            ...chosen.map((name) => metricColumn(name, units, compatible)),
        ],
        file: `${trace.name}-${layer.name}-${rowsBy.by}`,
    };
}

function shareCell(times, whole, layer) {
    const most = times.reduce((a, b) => Math.max(a, b), 0);
    return ({ time }) => {
        const words = text(whole > 0 ? time / whole : null, 'share');
        return h(
            'span',
            { class: 'bar-with-figure' },
            bar(most && Math.min(1, time / most), layer.color, 0, `${words} of the time of ${layer.name}`),
            h('span', { class: 'figure' }, words),
        );
    };
}
