/* timeline_tree.js - lanes: hosts, ranks, processes and threads as a tree, and the lines of it that are shown. */

export const ROW = 18; /* px */
export const LINE = 26;
export const GAP = 8;
const CHUNK = 16,
    MOST_ROWS = 3900; /* so that a tile stays within what the server draws at once */

/**
 * @typedef {Object} Chunk  lanes that are asked for together
 * @property {string} key
 * @property {Lane[]} lanes
 *
 * @typedef {Object} Lane
 * @property {string} id
 * @property {string|null} parent
 * @property {'job'|'host'|'rank_group'|'process'|'thread'} level
 * @property {string} label
 * @property {string} [words]  what stands beside it, where it is no thread of the trace
 * @property {string|null} host_name
 * @property {number|null} pid
 * @property {number|null} tid
 * @property {number} threads
 * @property {number} events
 * @property {number} busy  seconds
 * @property {number} rows
 * @property {Lane[]} children
 * @property {Chunk} chunk
 * @property {number} at  its place in the chunk
 * @property {number} [ink]  of the palette of processes
 *
 * @typedef {Object} Line
 * @property {Lane} lane
 * @property {number} indent
 * @property {number} top  px
 * @property {number} height
 * @property {number} rows  0: a line of density
 * @property {number} more  rows that do not fit
 * @property {boolean} foldable
 * @property {boolean} open
 */

/**
 * @param {any[]} records  of the call timeline/lanes; they become the lanes
 * @returns {{root: Lane, lanes: Map<string, Lane>}}
 */
export function treeOf(records) {
    const root = /** @type {any} */ ({ id: 'job', parent: null, level: 'job', label: 'Job', children: [], rows: 0 });
    const lanes = new Map([['job', root]]);
    for (const lane of records) {
        Object.assign(lane, { children: [], chunk: null, at: 0 });
        lanes.set(lane.id, lane);
        (lanes.get(lane.parent) ?? root).children.push(lane);
    }
    for (const lane of lanes.values()) cut(lane);
    return { root, lanes };
}

/** Threads are asked for with others of their rank, all else with what stands beside it. */
function cut(lane) {
    if (lane.level === 'rank_group')
        chunks(
            `${lane.id} threads`,
            lane.children.flatMap((process) => process.children),
        );
    if (lane.level !== 'process') chunks(lane.id, lane.children);
}

function chunks(name, lanes) {
    let chunk = /** @type {any} */ (null),
        rows = 0;
    for (const lane of lanes) {
        if (!chunk || chunk.lanes.length === CHUNK || rows + lane.rows > MOST_ROWS) {
            chunk = { key: `${name} ${lane.id}`, lanes: [] };
            rows = 0;
        }
        lane.chunk = chunk;
        lane.at = chunk.lanes.push(lane) - 1;
        rows += lane.level === 'thread' ? lane.rows : 0;
    }
}

/** What opens with a lane: of a process that is alone in its rank, its threads. */
export function below({ children }) {
    return children.length === 1 && children[0].level === 'process' ? children[0].children : children;
}

/** The rank that was busy for longest, and what it is in, open; with few hosts all of them. */
export function usuallyOpen(tree, chosen = []) {
    if (chosen.length > 0 && chosen[0] !== 'job') return openedFor(tree, chosen);
    const { root, lanes } = tree,
        open = new Set(root.children.length <= 4 ? root.children.map(({ id }) => id) : []);
    let busiest = null;
    for (const lane of lanes.values())
        if (lane.level === 'rank_group' && !(lane.busy <= busiest?.busy)) busiest = lane;
    for (const lane of [busiest, ...(busiest?.children ?? [])]) if (lane) open.add(lane.id);
    if (busiest) open.add(busiest.parent);
    return open;
}

/** These lanes and all below them. */
export function withBelow({ lanes }, ids) {
    const found = new Set(),
        add = (lane) => {
            found.add(lane.id);
            lane.children.forEach(add);
        };
    for (const id of ids) if (lanes.has(id)) add(lanes.get(id));
    return found;
}

/** Of chosen lanes the first is open, and what it is in. */
function openedFor(tree, chosen) {
    const [id] = chosen,
        open = opened(new Set([id]), tree, id),
        { children } = tree.lanes.get(id);
    for (const child of children) if (child.level === 'process') open.add(child.id);
    return open;
}

/** Opens what hides a lane. */
export function opened(open, { lanes }, id) {
    const next = new Set(open);
    for (let at = lanes.get(lanes.get(id)?.parent); at && at.level !== 'job'; at = lanes.get(at.parent))
        next.add(at.id);
    return next;
}

/**
 * @param {{root: Lane, lanes: Map<string, Lane>}} tree
 * @param {{open: Set<string>, hidden: Set<string>, sort: string, depth: number, named?: string}} options  named:
 *   only lanes whose name holds this, what they are in, and what is in them
 * @returns {{lines: Line[], height: number}}
 */
export function linesOf({ root, lanes }, { open, hidden, sort, depth, named }) {
    const lines = [],
        [kept, around] = named ? namedLanes(lanes, named) : [null, open];
    let top = 0;
    const visit = (lane, indent) => {
        if (hidden.has(lane.id) || (kept && !kept.has(lane.id))) return;
        const line = lineOf(lane, indent, top, open.has(lane.id) || around.has(lane.id), depth);
        lines.push(line);
        top += line.height;
        if (line.open) for (const child of inOrder(below(lane), sort)) visit(child, indent + 1);
    };
    for (const lane of inOrder(root.children, sort)) visit(lane, 0);
    return { lines, height: top };
}

/** Lanes that are found by their name with all around and in them; and those around them alone. */
function namedLanes(lanes, named) {
    const words = named.toLowerCase(),
        kept = new Set(),
        around = new Set();
    for (const lane of lanes.values()) {
        if (kept.has(lane.parent) && !around.has(lane.parent)) {
            kept.add(lane.id);
            continue;
        }
        if (!lane.label.toLowerCase().includes(words)) continue;
        kept.add(lane.id);
        for (let at = lanes.get(lane.parent); at; at = lanes.get(at.parent)) {
            kept.add(at.id);
            around.add(at.id);
        }
    }
    return [kept, around];
}

/** @returns {Line} */
export function lineOf(lane, indent, top, open, depth) {
    const rows = lane.level === 'thread' && lane.rows <= MOST_ROWS ? Math.max(1, Math.min(lane.rows, depth)) : 0;
    return {
        lane,
        indent,
        top,
        rows,
        more: rows > 0 ? lane.rows - rows : 0,
        height: rows > 0 ? rows * ROW + GAP : LINE,
        foldable: lane.children.length > 0,
        open: open && lane.children.length > 0,
    };
}

function inOrder(lanes, sort) {
    const key = sort.replace(/^-/, ''),
        sign = sort.startsWith('-') ? -1 : 1;
    return key === '' || key === 'name'
        ? sign < 0
            ? [...lanes].reverse()
            : lanes
        : [...lanes].sort((a, b) => sign * (a[key] - b[key]));
}

/**
 * The line at a height, or the last one above it.
 * @param {Line[]} lines
 * @returns {number} its index; -1 above the first
 */
export function lineAt(lines, y) {
    let low = 0,
        high = lines.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (lines[middle].top <= y) low = middle + 1;
        else high = middle;
    }
    return low - 1;
}

/**
 * What a lane's events satisfy, as an expression.
 * @param {Lane} lane
 * @param {(name: string, value: any) => string} equals
 */
export function laneCondition({ level, host_name: host, pid, tid, children }, equals) {
    const parts = [equals('host_name', host)];
    if (level === 'rank_group' && children.length > 1)
        parts.push(`pid.isin([${children.map((process) => process.pid).join(', ')}])`);
    else if (level !== 'host') parts.push(equals('pid', pid));
    if (level === 'thread') parts.push(equals('tid', tid));
    return level === 'job' ? '' : parts.join(' and ');
}
