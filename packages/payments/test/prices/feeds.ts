import { ASSETS, pricesOf } from '@svc/api/assets'

/** The coins that the tests of prices are about, whatever else is sold. */
export const FEEDS = { SOL: feedOf('SOL'), MON: feedOf('MON'), ETH: feedOf('ETH') }

function feedOf(wanted: string): string {
  const price = pricesOf(ASSETS).find(({ symbol }) => symbol === wanted)
  if (!price) throw new Error(`no asset has the price of ${wanted}`)
  return price.feed
}
