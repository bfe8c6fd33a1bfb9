import { ASSETS } from '@svc/api/assets'
import type { ConfiguredAsset } from '../src/legs.ts'

/** All assets at their own addresses, as a service has them that sets none. */
export const DEFAULT_ASSETS: readonly ConfiguredAsset[] = ASSETS.map((of) => ({
  of,
  address: typeof of.address === 'string' ? of.address : null,
}))
