/* function_graph.js - a kind of chart: functions in layers, each behind those whose results it takes. */

import { text } from '../format.js';
import { axisText, tip, tooltip } from './axes.js';
import { resolved } from './palette.js';
import { chartTable } from './table.js';

/**
 * @typedef {Object} GraphData
 * @property {{name: string, duration: number, tasks: number, critical: boolean}[]} nodes
 * @property {{from: string, to: string, edges: number, size: number}[]} edges
 * @property {(node: Object) => string} words
 * @property {string} label
 */

const ROW = 76, TOP = 24, BOTTOM = 40;

/** @type {import('./plot.js').Kind} */
export const functionGraph = { option, table, height: (data) => TOP + BOTTOM + ROW * Math.max(2, ...layersOf(data).map((layer) => layer.length)) };

/** Functions by the longest way to them; an edge that leads back, as of a function that feeds itself, counts for nothing. */
function layersOf({ nodes, edges }) {
    const depth = new Map(nodes.map(({ name }) => [name, 0]));
    const rounds = nodes.length;
    for (let round = 0, moved = true; moved && round < rounds; round++) {
        moved = false;
        for (const { from, to } of edges) {
            const behind = (depth.get(from) ?? 0) + 1;
            if (from === to || !depth.has(to) || depth.get(to) >= behind || behind >= rounds) continue;
            depth.set(to, behind);
            moved = true;
        }
    }
    const layers = [];
    for (const node of nodes) (layers[depth.get(node.name)] ??= []).push(node);
    return layers.filter(Boolean).map((layer) => layer.sort((a, b) => b.duration - a.duration));
}

/** @param {GraphData} data */
function option(data) {
    const layers = layersOf(data), most = Math.max(...data.nodes.map((node) => node.duration), 1e-9), largest = Math.max(...data.edges.map((edge) => edge.size), 1);
    const depth = new Map(layers.flatMap((layer, x) => layer.map(({ name }) => [name, x])));
    const narrow = window.innerWidth < 600, side = narrow ? 30 : 60, ink = resolved('var(--ink)');
    /* places are pixels, so that nothing is stretched; two points that nobody sees keep the extent of the picture */
    const width = Math.max(200, (document.getElementById('main')?.clientWidth ?? 800) - 2 * side - 40), height = functionGraph.height(data) - TOP - BOTTOM;
    const corners = [[0, 0], [width, height]].map(([x, y], index) => ({ name: `\n${index}`, x, y, symbolSize: 0.1, silent: true, itemStyle: { opacity: 0 } }));
    const points = layers.flatMap((layer, x) => layer.map((node, row) => ({
        name: node.name, node, x: (x + 0.5) * width / layers.length, y: (row + 0.5) * height / layer.length, symbolSize: 12 + (narrow ? 16 : 28) * Math.sqrt(node.duration / most),
        itemStyle: { color: resolved('var(--layer-6)'), borderColor: resolved('var(--bad)'), borderWidth: node.critical ? 3 : 0 },
        label: { show: true, position: narrow && x % 2 ? 'top' : 'bottom', distance: 6, ...axisText(), lineHeight: 15, color: ink, formatter: narrow ? node.name : `${node.name}\n${text(node.duration, 's')}` } })));
    return {
        tooltip: tooltip('item', (hit) => content(data, hit)),
        series: [{ type: 'graph', layout: 'none', left: side, right: side, top: TOP, bottom: BOTTOM, roam: false, data: [...points, ...corners], edgeSymbol: ['none', 'arrow'], edgeSymbolSize: 7, emphasis: { focus: 'adjacency' },
            links: data.edges.map((edge) => ({ source: edge.from, target: edge.to, edge, lineStyle: { width: 1 + 5 * Math.sqrt(edge.size / largest), color: resolved('var(--line-strong)'), opacity: 0.7, curveness: edge.from === edge.to ? 0.6 : 0.1 * (depth.get(edge.to) - depth.get(edge.from)) } })) }],
    };
}

function content(data, hit) {
    const shown = Array.isArray(hit) ? hit[0] : hit;
    const { node, edge } = shown.data ?? {};
    if (node) return tip(node.name, [{ head: 'time', number: node.duration, unit: 's' }, { head: 'tasks', number: node.tasks, unit: 'count' }]);
    return edge ? tip(`${edge.from} \u2192 ${edge.to}`, [{ head: 'edges', number: edge.edges, unit: 'count' }, { head: 'results', number: edge.size, unit: 'B' }]) : null;
}

function table(data) {
    return chartTable(data.label, data.edges, [
        { key: 'from', label: 'From', class: 'head' }, { key: 'to', label: 'To' },
        { key: 'edges', label: 'Edges', unit: 'count' }, { key: 'size', label: 'Size of the results', unit: 'B' },
    ]);
}
