// The storage providers that can be sold, as buyers and the configuration see them. How each is configured and opened
// is defined in `packages/storage/src/drivers.ts`.

interface ProviderFacts {
  title: string
  /** Its number in short-URL tokens (GEN-11). Never changed, because tokens are in use. */
  code: number
  /** The default price of a unit in USD, as decimal text. */
  price: string
  /** `direct`: stores and removes immediately. `slow`: a job stores the bytes later, and none are ever removed. */
  speed: 'direct' | 'slow'
}

/** In the order of the interface. The first configured provider is the default. */
export const PROVIDER_FACTS = {
  gcs: { title: 'Google Cloud Storage', code: 1, price: '0.25', speed: 'direct' },
  mongodb: { title: 'MongoDB', code: 2, price: '0.125', speed: 'direct' },
  storj: { title: 'Storj', code: 3, price: '0.25', speed: 'direct' },
  arweave: { title: 'Arweave', code: 4, price: '2.5', speed: 'slow' },
  filecoin: { title: 'Filecoin', code: 5, price: '0.25', speed: 'slow' },
  firestore: { title: 'Firestore', code: 6, price: '0.125', speed: 'direct' },
} as const satisfies Record<string, ProviderFacts>

export type Provider = keyof typeof PROVIDER_FACTS
type OfSpeed<Speed> = {
  [Name in Provider]: (typeof PROVIDER_FACTS)[Name]['speed'] extends Speed ? Name : never
}[Provider]
export type SlowProvider = OfSpeed<'slow'>
export type DirectProvider = OfSpeed<'direct'>

export const PROVIDERS = Object.keys(PROVIDER_FACTS) as Provider[]

export function providerCode(name: string): number {
  return PROVIDER_FACTS[name as Provider].code // lockers are only sold with these providers
}

export function isSlow(provider: Provider): provider is SlowProvider {
  return PROVIDER_FACTS[provider].speed === 'slow'
}

export function isDirect(provider: Provider): provider is DirectProvider {
  return !isSlow(provider)
}
