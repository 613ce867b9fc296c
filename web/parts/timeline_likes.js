/* timeline_likes.js - what is like the event under the pointer stands out: by name at once, by file or step once the
 * pointer rests. */

import { getOf } from '../api.js';
import { equals } from './narrow.js';
import { eventOf } from './timeline_boxes.js';
import { eventPath } from './timeline_event.js';

const RESTS = 250; /* ms */

/**
 * @param {Object} trace
 * @param {ReturnType<import('./timeline_stage.js').timelineStage>} stage
 * @param {(condition: string|null) => void} light  outlines what satisfies it
 */
export function timelineLikes(trace, stage, light) {
    let resting = 0,
        lit = null;

    function outline(condition) {
        if (lit !== condition) light((lit = condition));
    }

    /**
     * @param {string|undefined} by  name, file_name or step
     * @param {import('./timeline_boxes.js').Box|null} box
     * @param {{origin: string, perSecond: number}} known
     */
    function point(by, box, known) {
        clearTimeout(resting);
        stage.setOnly(by === 'name' && box ? stage.texts.words[box.name] : null);
        if ((by !== 'file_name' && by !== 'step') || !box) {
            outline(null);
            return;
        }
        resting = setTimeout(async () => {
            const { columns } = await getOf(trace, eventPath(trace, eventOf(box, known)), {}).catch(() => ({
                columns: {},
            }));
            outline(columns[by] === undefined || columns[by] === null ? null : equals(by, columns[by]));
        }, RESTS);
    }

    return {
        point,
        get condition() {
            return lit;
        },
        close: () => clearTimeout(resting),
    };
}
