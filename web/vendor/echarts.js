/* echarts.js - the parts of ECharts that the charts use; all of it would weigh three times as much. */

import { BarChart, CustomChart } from 'echarts/charts';
import { BrushComponent, GridComponent, TooltipComponent } from 'echarts/components';
import { init, use } from 'echarts/core';
import { CanvasRenderer } from 'echarts/renderers';

use([BarChart, CustomChart]);
use([BrushComponent, GridComponent, TooltipComponent]);
use([CanvasRenderer]);

export { init };
