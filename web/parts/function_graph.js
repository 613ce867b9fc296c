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

const ROW = 76,
    TOP = 24,
    BOTTOM = 40;

/** @type {import('./plot.js').Kind} */
export const functionGraph = {
    option,
    table,
    height: (data) => TOP + BOTTOM + ROW * Math.max(2, ...layersOf(data).map((layer) => layer.length)),
};

/**
 * Functions by the longest way to them; an edge that leads back, as of a function that feeds itself, counts for
 * nothing.
 */
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
    const layers = layersOf(data),
        most = Math.max(...data.nodes.map((node) => node.duration), 1e-9),
        largest = Math.max(...data.edges.map((edge) => edge.size), 1);
    const narrow = window.innerWidth < 600,
        side = narrow ? 30 : 60;
    const width = Math.max(200, (document.getElementById('main')?.clientWidth ?? 800) - 2 * side - 40),
        height = (functionGraph.height?.(data) ?? 0) - TOP - BOTTOM;
    const places = new Map(
        layers.flatMap((layer, x) =>
            layer.map((node, row) => [
                node.name,
                {
                    node,
                    depth: x,
                    x: side + ((x + 0.5) * width) / layers.length,
                    y: TOP + ((row + 0.5) * height) / layer.length,
                    radius: 6 + (narrow ? 8 : 14) * Math.sqrt(node.duration / most),
                    narrow,
                },
            ]),
        ),
    );
    const edges = data.edges.filter(({ from, to }) => places.has(from) && places.has(to));
    const items = [
        ...edges.map((edge) => ({
            value: 0,
            edge,
            draw: () => arrow(places.get(edge.from), places.get(edge.to), 1 + 5 * Math.sqrt(edge.size / largest)),
        })),
        ...[...places.values()].map((place) => ({ value: 0, node: place.node, draw: () => circle(place) })),
    ];
    return {
        tooltip: tooltip('item', (hit) => content(data, hit)),
        series: [
            {
                type: 'custom',
                coordinateSystem: 'none',
                data: items,
                renderItem: ({ dataIndex }) => items[dataIndex].draw(),
            },
        ],
    };
}

function circle({ node, depth, x, y, radius, narrow }) {
    const above = narrow && depth % 2,
        { fontSize, fontFamily } = axisText();
    return {
        type: 'group',
        children: [
            {
                type: 'circle',
                shape: { cx: x, cy: y, r: radius },
                style: {
                    fill: resolved('var(--layer-6)'),
                    stroke: resolved('var(--bad)'),
                    lineWidth: node.critical ? 3 : 0,
                },
            },
            {
                type: 'text',
                style: {
                    text: narrow ? node.name : `${node.name}\n${text(node.duration, 's')}`,
                    x,
                    y: y + (above ? -radius - 6 : radius + 6),
                    align: 'center',
                    verticalAlign: above ? 'bottom' : 'top',
                    fill: resolved('var(--ink)'),
                    fontSize,
                    fontFamily,
                    lineHeight: 15,
                },
            },
        ],
    };
}

/** A curve between the borders of two circles, or a loop above one, and its head. */
function arrow(from, to, lineWidth) {
    const loop = from === to,
        bend = 0.1 * (to.depth - from.depth),
        color = resolved('var(--line-strong)');
    const first = loop
        ? { x: from.x - 3 * from.radius, y: from.y - 3 * from.radius }
        : { x: (from.x + to.x) / 2 - (from.y - to.y) * bend, y: (from.y + to.y) / 2 - (to.x - from.x) * bend };
    const second = loop ? { x: from.x + 3 * from.radius, y: first.y } : first;
    const start = towards(from, first),
        end = towards(to, second),
        angle = Math.atan2(to.y - second.y, to.x - second.x),
        back = (turn) => [end.x - 9 * Math.cos(angle + turn), end.y - 9 * Math.sin(angle + turn)];
    return {
        type: 'group',
        children: [
            {
                type: 'bezierCurve',
                shape: {
                    x1: start.x,
                    y1: start.y,
                    x2: end.x,
                    y2: end.y,
                    cpx1: first.x,
                    cpy1: first.y,
                    cpx2: second.x,
                    cpy2: second.y,
                },
                style: { stroke: color, lineWidth, opacity: 0.7, fill: null },
            },
            { type: 'polygon', shape: { points: [[end.x, end.y], back(0.4), back(-0.4)] }, style: { fill: color } },
        ],
    };
}

/** Where the way from the centre of a circle to a point leaves the circle. */
function towards({ x, y, radius }, point) {
    const length = Math.hypot(point.x - x, point.y - y) || 1;
    return { x: x + ((point.x - x) * radius) / length, y: y + ((point.y - y) * radius) / length };
}

function content(data, hit) {
    const shown = Array.isArray(hit) ? hit[0] : hit;
    const { node, edge } = shown.data ?? {};
    if (node)
        return tip(node.name, [
            { head: 'time', number: node.duration, unit: 's' },
            { head: 'tasks', number: node.tasks, unit: 'count' },
        ]);
    return edge
        ? tip(`${edge.from} \u2192 ${edge.to}`, [
              { head: 'edges', number: edge.edges, unit: 'count' },
              { head: 'results', number: edge.size, unit: 'B' },
          ])
        : null;
}

function table(data) {
    return chartTable(data.label, data.edges, [
        { key: 'from', label: 'From', class: 'head' },
        { key: 'to', label: 'To' },
        { key: 'edges', label: 'Edges', unit: 'count' },
        { key: 'size', label: 'Size of the results', unit: 'B' },
    ]);
}
