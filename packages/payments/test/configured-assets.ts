import { ASSETS } from '@svc/api/assets'
import type { ConfiguredAsset } from '../src/legs.ts'

/** All assets at their own addresses, as in a service without asset settings. */
export const DEFAULT_ASSETS: readonly ConfiguredAsset[] = ASSETS.map((of) => ({
  of,
  address: typeof of.address === 'string' ? of.address : null,
}))
