/* flame_layout.js - a tree of calls as frames over each other: where each is, and which one a place is in.  Nothing
 * here draws. */

/**
 * @typedef {Object} CallNode
 * @property {number} node
 * @property {number|null} parent
 * @property {string} kind  node, other: the rest that is too small
 * @property {string|null} label
 * @property {number} count
 * @property {number} total  seconds
 * @property {number} self
 * @property {number} [size]  bytes
 * @property {number} [width]  what a frame is as wide as; its total when left out
 * @property {CallNode[]} [children]
 * @property {CallNode|null} [above]
 * @property {number} [before]  its total in the run that it is compared to
 *
 * @typedef {{node: CallNode, x: number, width: number, depth: number}} Frame  x, width: of the whole, 0 .. 1
 */

const OTHER = '\u2026';

/**
 * Links nodes to their children.
 * @param {CallNode[]} records  parents before their children
 * @returns {CallNode} a root over all of them
 */
export function callTree(records) {
    const root = /** @type {CallNode} */ ({
            node: -1,
            parent: null,
            kind: 'root',
            label: 'all',
            count: 0,
            total: 0,
            self: 0,
            children: [],
            above: null,
        }),
        byNumber = new Map();
    for (const record of records) {
        record.children = [];
        byNumber.set(record.node, record);
        const above = byNumber.get(record.parent) ?? root;
        record.above = above;
        above.children.push(record);
    }
    for (const top of root.children ?? []) {
        root.total += top.total;
        root.count += top.count;
        root.width = (root.width ?? 0) + (top.width ?? top.total);
    }
    return root;
}

const widthOf = (node) => node.width ?? node.total;

/** The path of labels from a root down to a node. */
export function pathOf(node) {
    const path = [];
    for (let at = node; at?.above; at = at.above) path.unshift(at.label ?? OTHER);
    return path;
}

/** The node at the end of a path; as far as it goes. */
export function nodeAt(root, path) {
    return path.reduce((at, label) => at.children.find((child) => (child.label ?? OTHER) === label) ?? at, root);
}

/**
 * Frames of a node and all below it; above it stand those that lead to it, over the whole width.
 * @param {CallNode} root
 * @param {number} least  of the whole: what is narrower is left out
 * @returns {Frame[]}
 */
export function framesOf(root, least) {
    const frames = [],
        leading = [];
    for (let at = root.above; at; at = at.above) leading.unshift(at);
    for (const [depth, node] of leading.entries()) frames.push({ node, x: 0, width: 1, depth });
    const place = (node, x, width, depth) => {
        frames.push({ node, x, width, depth });
        const sum = node.children.reduce((all, child) => all + widthOf(child), 0),
            scale = sum > 0 ? width / Math.max(sum, widthOf(node)) : 0;
        let at = x;
        for (const child of node.children) {
            const wide = widthOf(child) * scale;
            if (wide >= least) place(child, at, wide, depth + 1);
            at += wide;
        }
    };
    place(root, 0, 1, leading.length);
    return frames;
}

/** @param {Frame[]} frames */
export function frameAt(frames, x, depth) {
    return frames.find((frame) => frame.depth === depth && x >= frame.x && x < frame.x + frame.width) ?? null;
}

/**
 * Two trees as one, by path of labels: each node with its total before.
 * @param {CallNode} now
 * @param {CallNode} before
 * @returns {CallNode[]}
 */
export function mergedTrees(now, before) {
    const list = [];
    const merge = (one, other, parent) => {
        const number = list.length,
            labels = new Set([...(one?.children ?? []), ...(other?.children ?? [])].map(({ label }) => label));
        const its = one ?? other,
            total = one?.total ?? 0,
            old = other?.total ?? 0;
        if (its.above !== null)
            list.push({
                ...its,
                node: number,
                parent,
                count: one?.count ?? 0,
                total,
                self: one?.self ?? 0,
                before: old,
                width: Math.max(total, old),
            });
        for (const label of labels)
            merge(
                one?.children.find((child) => child.label === label),
                other?.children.find((child) => child.label === label),
                its.above !== null ? number : null,
            );
    };
    merge(now, before, null);
    return list;
}
