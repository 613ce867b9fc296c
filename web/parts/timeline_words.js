/* timeline_words.js - what lanes are called in sentences. */

/** A lane's id in words. */
export function laneWords(id) {
    const [kind, ...parts] = id.split(':');
    return kind === 'job'
        ? 'job'
        : [kind === 'r' && 'rank', ...parts.map((part) => (part === '~' ? 'no host' : decodeURIComponent(part)))]
              .filter(Boolean)
              .join(' ');
}
