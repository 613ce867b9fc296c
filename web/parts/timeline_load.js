/* timeline_load.js - what a tile of the timeline asks the API, and its response as a tile. */

import { get } from '../api.js';
import { tileOfEvents } from './timeline_boxes.js';
import { tileOfDensity } from './timeline_density.js';
import { CELLS, wholeResolution } from './timeline_scale.js';

/**
 * @param {import('./timeline_stage.js').Shown} about
 * @param {{kind: 'events'|'density'|'hits', what?: string, chunk: import('./timeline_tree.js').Chunk, r: number,
 *   index: number}} tile
 * @param {{texts: Object, thickness: Object}} learned  names met so far, and how thick lanes are: both grow
 * @param {AbortSignal} signal
 */
export async function loadTile(about, { kind, what = '', chunk, r, index }, { texts, thickness }, signal) {
    if (about.events)
        return tileOfEvents(
            about.events({ chunk, from: CELLS * r * index, to: CELLS * r * (index + 1) }),
            { kind, chunk, r, index },
            texts,
        );
    const seconds = (ticks) => ticks / about.perSecond,
        { filter } = about.parameters;
    const both = kind === 'hits' && filter ? `(${filter}) and (${what})` : kind === 'hits' ? what : filter;
    const asking = {
        ...about.parameters,
        filter: both,
        lanes: chunk.lanes.map(({ id }) => id).join(','),
        from: seconds(CELLS * r * index),
        to: seconds(CELLS * r * (index + 1)),
        width: CELLS,
        label: kind === 'density' ? what : null,
    };
    const answer = await get(
        `traces/${about.trace.id}/timeline/${kind === 'density' ? 'density' : 'events'}`,
        asking,
        signal,
    );
    if (kind !== 'density') return tileOfEvents(answer, { kind, chunk, r, index }, texts);
    const tile = tileOfDensity(answer, { kind, chunk, r, index });
    if (r >= wholeResolution(about.end)) thickness.learn(tile, chunk);
    return tile;
}
