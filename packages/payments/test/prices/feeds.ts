import { ASSETS, pricesOf } from '@svc/api/assets'

/** The coins of the price tests, independent of what else is sold. */
export const FEEDS = { SOL: feedOf('SOL'), MON: feedOf('MON'), ETH: feedOf('ETH') }

function feedOf(wanted: string): string {
  const price = pricesOf(ASSETS).find(({ symbol }) => symbol === wanted)
  if (!price) throw new Error(`no asset has the symbol ${wanted}`)
  return price.feed
}
