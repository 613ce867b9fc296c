/* flat.js - all layers beside each other, a row for each bin of time, process or file. */

import { getOf } from '../api.js';
import { h } from '../dom.js';
import { text } from '../format.js';
import { latestRequest } from '../parts/latest_request.js';
import { isCompatible, parametersOf } from '../parts/control_bar.js';
import { isPresent, layerTree, swatch } from '../parts/layers.js';
import { legend, toggled } from '../parts/legend.js';
import { metricColumn, SCORES } from '../parts/metrics.js';
import { failedFilter } from '../parts/notice.js';
import { rowsCard } from '../parts/rows_card.js';
import { otherKeys, rowButton, viewParameters, viewsOf } from '../parts/rows_by.js';
import { segmented } from '../parts/segmented.js';
import { tracePage } from '../parts/trace_page.js';
import { go } from '../state.js';

export const title = 'Table';

/* Columns of each layer that are shown unless others are chosen: the last is that of the scores. */
const USUAL = ['busy', 'exposed_group_sum'];
const USUAL_COMPATIBLE = ['time_sum', 'time_max', 'count_sum', 'util', 'ops_slope'];

/**
 * @param {HTMLElement} host
 * @param {Object} place
 */
export function open(host, place) {
    return tracePage(host, place, flatPicture);
}

function flatPicture(trace, bar) {
    const top = h('div', { class: 'stack' });
    const rows = rowsCard({ onChoose: (names) => go({ columns: names?.join(',') }) });
    const joining = latestRequest(top);
    rows.element.hidden = true;

    function update(place, granularity) {
        const parameters = parametersOf(place),
            compatible = isCompatible(place);
        const anew = joining.send({
            request: [parameters, place.by],
            what: 'Joining the layers',
            path: `traces/${trace.id}/views/flat`,
            height: 200,
            load: (signal) => ask(parameters, place, compatible, granularity, signal),
            show: (answer) => draw(answer, place, parameters, granularity),
            fail: (problem) => {
                rows.element.hidden = true;
                failedFilter(problem, bar, top);
            },
        });
        if (anew) bar.clear();
    }

    async function ask(parameters, place, compatible, granularity, signal) {
        const [summary, preset] = await Promise.all([
            getOf(trace, `traces/${trace.id}/summary`, parameters, signal),
            getOf(trace, `presets/${place.preset ?? trace.preset.name}`, {}, signal),
        ]);
        const views = viewsOf(preset, compatible),
            rowsBy = views.find(({ by }) => by === place.by) ?? views[0];
        const { columns } = await getOf(
            trace,
            `traces/${trace.id}/views/flat`,
            { ...parameters, ...binsOf(rowsBy, granularity), ...viewParameters(rowsBy, compatible), limit: 0 },
            signal,
        );
        return { summary, preset, views, rowsBy, columns };
    }

    function draw(answer, place, parameters, granularity) {
        const tree = layerTree(answer.summary.layers, answer.preset);
        const present = tree.filter((layer) =>
            isPresent(answer.summary.layers.find(({ name }) => name === layer.name)),
        );
        const shown =
            place.layers === undefined ? new Set(present.map(({ name }) => name)) : new Set(place.layers.split(','));
        const choose = (name, alone) => {
            const next = toggled(shown, name, alone);
            go({ layers: next.size === present.length ? null : [...next].join(',') || '-', sort: null });
        };
        top.replaceChildren(legend(present, shown, choose), scoreWords(isCompatible(place)));
        rows.element.hidden = false;
        rows.update(
            flatRows({
                ...answer,
                trace,
                place,
                parameters,
                granularity,
                layers: present.filter(({ name }) => shown.has(name)),
                all: tree,
            }),
        );
    }

    return {
        boxes: [top, rows.element],
        update,
        close() {
            joining.close();
            rows.close();
        },
    };
}

function binsOf({ by }, granularity) {
    return by === 'time_range' ? { granularity } : {};
}

function scoreWords(compatible) {
    if (!compatible) return '';
    return h(
        'p',
        { class: 'scores' },
        'Scores: ',
        SCORES.map((words, score) => score > 0 && h('span', { class: 'scored', data: { score } }, words)),
    );
}

/**
 * Which layer a column is of, and which of its metrics: u_reader_time_max is u_time_max of reader.
 * @param {string} column
 * @param {import('../parts/layers.js').Layer[]} layers  the longest names first
 */
function partsOf(column, layers) {
    const bare = column.replace(/^u_/, '');
    const layer = layers.find(({ name }) => bare.startsWith(`${name}_`));
    return layer && { layer: layer.name, metric: (bare === column ? '' : 'u_') + bare.slice(layer.name.length + 1) };
}

function flatRows({ trace, place, parameters, granularity, layers, all, views, rowsBy, columns }) {
    const compatible = isCompatible(place);
    const binned = Number(parameters.granularity ?? granularity);
    const longest = [...all].sort((a, b) => b.name.length - a.name.length);
    const table = columnTable(columns, longest, rowsBy.keys);
    const metrics = [...new Set([...table.values()].flatMap((of) => [...of.keys()]))].filter(
        (metric) => !metric.endsWith('_score'),
    );
    const offered = metrics.map((name) => ({ name, ...labelled(name, {}, compatible) }));
    const usual = (compatible ? USUAL_COMPATIBLE : USUAL).filter((metric) => metrics.includes(metric));
    const wanted = place.columns ? place.columns.split(',').filter((metric) => metrics.includes(metric)) : usual;
    const cells = layers.flatMap((layer) =>
        wanted
            .filter((metric) => table.get(layer.name)?.has(metric))
            .map((metric) => ({
                layer,
                metric,
                column: table.get(layer.name).get(metric),
                score: table.get(layer.name).get(`${metric}_score`),
            })),
    );
    return {
        title: `All layers by ${rowsBy.label.toLowerCase()}`,
        note: rowsBy.by === 'time_range' ? `in bins of ${text(binned, 's')}` : null,
        tools: segmented(
            'Rows by',
            views.map(({ by, label }) => [by, label]),
            rowsBy.by,
            (by) => go({ by, sort: null }),
        ),
        trace,
        path: `traces/${trace.id}/views/flat`,
        parameters: { ...parameters, ...binsOf(rowsBy, binned), ...viewParameters(rowsBy, compatible) },
        keys: rowsBy.keys,
        offered,
        chosen: wanted,
        shown: cells.map(({ column }) => column),
        beside: cells.map(({ score }) => score).filter(Boolean),
        sort: place.sort,
        columns: ({ units }) => [
            {
                key: rowsBy.keys[0],
                label: rowsBy.head ?? rowsBy.label,
                class: 'head',
                cell: (record) => rowButton(rowsBy, record, binned, trace.job_time),
            },
            ...otherKeys(rowsBy, trace),
            ...cells.map((cell) => cellColumn(cell, units, compatible)),
        ],
        groups: () => [
            { label: '', span: 1 + otherKeys(rowsBy, trace).length },
            ...layers
                .map((layer) => ({ layer, span: cells.filter((cell) => cell.layer === layer).length }))
                .filter(({ span }) => span > 0)
                .map(({ layer, span }) => ({
                    label: h('span', { class: 'layer-group' }, swatch(layer), layer.name),
                    span,
                    title: layer.label,
                })),
        ],
        file: `${trace.name}-flat-${rowsBy.by}`,
    };
}

/** For each layer its metrics and their columns. */
function columnTable(columns, longest, keys) {
    const table = new Map();
    for (const column of columns) {
        const found = keys.includes(column) ? null : partsOf(column, longest);
        if (!found) continue;
        if (!table.has(found.layer)) table.set(found.layer, new Map());
        table.get(found.layer).set(found.metric, column);
    }
    return table;
}

function labelled(metric, units, compatible) {
    const { label, title: meaning, unit } = metricColumn(metric, units, compatible);
    return { label, title: meaning, unit };
}

function cellColumn({ layer, metric, column, score }, units, compatible) {
    const { label, title: meaning, unit } = labelled(metric, { [metric]: units[column] }, compatible);
    return {
        key: column,
        label,
        title: `${layer.name}: ${meaning}`,
        unit,
        score: score && ((record) => record[score]),
    };
}
