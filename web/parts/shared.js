/* shared.js - the parts that several pages of a trace use, named together so that the bundler puts them into few
 * files: thirty small ones load later and pack worse. */

import './axes.js';
import './bars.js';
import './calls_panel.js';
import './causes.js';
import './chart_card.js';
import './clocks.js';
import './columns.js';
import './copy.js';
import './findings_list.js';
import './flame.js';
import './flame_layout.js';
import './grid.js';
import './heat.js';
import './job.js';
import './layers.js';
import './legend.js';
import './lines.js';
import './live.js';
import './metrics.js';
import './overlap_request.js';
import './painted.js';
import './paged.js';
import './palette.js';
import './picture.js';
import './plot.js';
import './query_columns.js';
import './query_examples.js';
import './row_groups.js';
import './rows_by.js';
import './rows_card.js';
import './series.js';
import './table.js';
import './tall.js';
import './tile.js';
import './timeline_colors.js';
