/* strokes.js - lines and dots of charts with few points, as shapes of ECharts' custom series: its line charts would
 * add a tenth to the library. */

/** @typedef {[number, number]} Point  in pixels */

/**
 * @param {Point[]} points
 * @param {Object} style  stroke, lineWidth, lineDash
 */
export function line(points, style) {
    return { type: 'polyline', shape: { points }, style: { fill: 'none', ...style } };
}

/**
 * @param {Point[]} points
 * @param {Object} style  fill, opacity
 */
export function area(points, style) {
    return { type: 'polygon', shape: { points }, style };
}

/**
 * @param {Point} center
 * @param {number} r
 * @param {Object} style  fill, stroke, lineWidth
 */
export function dot([cx, cy], r, style) {
    return { type: 'circle', shape: { cx, cy, r }, style };
}

/**
 * A series of shapes.
 * @param {Object[]} data
 * @param {(coord: (place: number[]) => Point, at: number) => (Object|false|null)[]} draw  the shapes of an item
 * @param {Object} [more]
 */
export function shapes(data, draw, more) {
    const renderItem = ({ dataIndex }, { coord }) => ({
        type: 'group',
        children: draw(coord, dataIndex).filter(Boolean),
    });
    return { type: 'custom', zlevel: 0, encode: { x: 0, y: 1 }, data, renderItem, cursor: 'default', ...more };
}
