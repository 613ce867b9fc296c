/* overlap_request.js - what the overlap page asks: which sets, of which scope, and which of them should hide behind
 * which. */

import { parametersOf } from './control_bar.js';
import { conditionOf, pathTo } from './layers.js';

export const SCOPES = [
    { key: 'rank_group', label: 'Rank with its workers', one: 'rank', many: 'ranks' },
    { key: 'process', label: 'Process', one: 'process', many: 'processes' },
    { key: 'thread', label: 'Thread', one: 'thread', many: 'threads' },
    { key: 'host', label: 'Host', one: 'host', many: 'hosts' },
    { key: 'job', label: 'Whole job', one: 'job', many: 'job' },
];

/* What categories are called in which a job computes, where no preset says so. */
const COMPUTING = /compute|ai_framework|kernel/;

/**
 * @typedef {import('./layers.js').Layer & {expression: string, own?: boolean}} EventSet
 *
 * @typedef {Object} OverlapRequest
 * @property {EventSet[]} sets
 * @property {typeof SCOPES[0]} scope
 * @property {EventSet} hidden  what should hide ..
 * @property {EventSet} behind  .. behind this
 * @property {Object} parameters  of the call
 */

/** Sets that a person wrote, one a line: "name: expression". */
export function ownSets(place) {
    return (place.own ?? '')
        .split('\n')
        .map((line) => /^(\w+):\s*(.+)$/.exec(line))
        .filter(Boolean)
        .map(([, name, expression]) => ({ name, expression }));
}

export function ownText(sets) {
    return sets.map(({ name, expression }) => `${name}: ${expression}`).join('\n');
}

/** Layers to choose from: those with events that do not hold compute, which nothing could hide behind. */
export function offeredLayers(tree, preset, present) {
    const around = new Set(
        pathTo(preset.overlap_with, new Map(tree.map((layer) => [layer.name, layer.parent]))).slice(0, -1),
    );
    return tree.filter(
        (layer) => present.has(layer.name) && !around.has(layer.name) && conditionOf(preset, layer.name),
    );
}

/** Compute, what stands beside it, and the POSIX layer with the most time; without compute the busiest. */
function usualLayers(offered, preset, times) {
    const compute = offered.find((layer) => layer.name === preset.overlap_with);
    const beside = offered.filter((layer) => compute && layer.parent === compute.parent);
    const posix = offered
        .filter((layer) => layer.hatched)
        .sort((a, b) => (times.get(b.name) ?? 0) - (times.get(a.name) ?? 0))
        .slice(0, 1);
    const usual = new Set([...beside, ...posix]);
    if (usual.size > 1) return offered.filter((layer) => usual.has(layer));
    const busiest = [...offered].sort((a, b) => (times.get(b.name) ?? 0) - (times.get(a.name) ?? 0)).slice(0, 4);
    return offered.filter((layer) => busiest.includes(layer));
}

/**
 * @param {Object} place
 * @param {{tree: import('./layers.js').Layer[], preset: Object, times: Map<string, number>}} known  times: of the
 *   layers that have events
 * @param {number} granularity
 * @returns {OverlapRequest|null}  null when there is nothing to set against each other
 */
export function overlapRequest(place, { tree, preset, times }, granularity) {
    const offered = offeredLayers(tree, preset, times);
    const chosen =
        place.layers === undefined
            ? usualLayers(offered, preset, times)
            : offered.filter((layer) => place.layers.split(',').includes(layer.name));
    const own = ownSets(place).map(({ name, expression }, index) => ({
        name,
        label: name,
        parent: null,
        depth: 0,
        hatched: false,
        color: `var(--layer-${12 - (index % 12)})`,
        expression,
        own: true,
    }));
    const sets = [...chosen.map((layer) => ({ ...layer, expression: conditionOf(preset, layer.name) })), ...own];
    if (sets.length === 0) return null;
    const named = (name) => sets.find((set) => set.name === name);
    const behind =
        named(place.behind) ?? named(preset.overlap_with) ?? sets.find(({ name }) => COMPUTING.test(name)) ?? sets[0];
    const others = sets
        .filter((set) => set !== behind)
        .sort((a, b) => (times.get(b.name) ?? 0) - (times.get(a.name) ?? 0));
    const hidden = (place.hidden !== behind.name && named(place.hidden)) || others[0] || behind;
    const scope = SCOPES.find(({ key }) => key === place.scope) ?? SCOPES[0];
    const given =
        own.length > 0
            ? { set: sets.map(({ name, expression }) => `${name}:${expression}`) }
            : { layers: sets.map(({ name }) => name) };
    const { preset: asked, filters, filter, from, to } = parametersOf(place);
    return {
        sets,
        scope,
        hidden,
        behind,
        parameters: {
            preset: asked ?? preset.name,
            filters,
            filter,
            from,
            to,
            scope: scope.key,
            ...given,
            granularity,
        },
    };
}

/** The names of the columns of a pair, whichever way the answer has it. */
export function pairColumns(columns, hidden, behind) {
    const both = columns.includes(`${hidden}_and_${behind}`) ? `${hidden}_and_${behind}` : `${behind}_and_${hidden}`;
    return { hidden: both, exposed: `${hidden}_minus_${behind}` };
}

/** What a unit of the scope is called. */
export function unitName(row, hosts) {
    const parts = [
        (hosts > 1 || row.pid === undefined) &&
            (row.host_name ?? (row.pid === undefined && row.host_name === undefined ? 'job' : 'no host')),
        row.pid,
        row.tid !== undefined && `thread ${row.tid}`,
    ];
    return parts.filter((part) => part !== false && part !== undefined && part !== null).join(' ') || 'job';
}
