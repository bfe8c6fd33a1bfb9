// What storage costs, and what a buyer gets for it.

import { common } from './common.ts'

export const texts = {
  title: 'What it costs',
  units: 'Units',
  unitsHint: 'One unit is the smallest locker.',
  provider: 'Stored at',
  storage: 'Storage',
  files: 'Files',
  egress: 'Downloads included',
  time: 'Stored for',
  days: (days: number) => (days % 365 === 0 ? common.counted(days / 365, 'year') : common.counted(days, 'day')),
  total: 'Total',
  once: 'once, for the whole time',
  assets: (assets: readonly string[]) =>
    `Pay with ${new Intl.ListFormat('en', { type: 'disjunction' }).format(assets)}`,
  asset: 'Pay with',
  amount: 'Amount',
  network: 'On',
  caption: 'The price in each asset',
  failed: 'Prices did not load',
  gatewayDisk: 'Stored on the gateway’s own disk.',
}
