// The argument `provider`: an id, or a name that people know.

import { PROVIDER_FACTS, PROVIDERS, type Provider } from '@svc/api/providers'
import Type from 'typebox'

export const ProviderChoice = Type.Optional(
  Type.Enum<Provider[]>(PROVIDERS, { description: 'Where the files are stored; by default, as `quote` shows.' }),
)

/** Other names than the id and the title. */
const ALSO: Readonly<Record<string, Provider>> = { google: 'gcs', googlecloud: 'gcs', mongo: 'mongodb' }

/** `gcs` for "Google Cloud Storage". Other values stay, for the schema to reject. */
export function providerIn(value: unknown): unknown {
  if (typeof value !== 'string') return value
  const wanted = lettersOf(value)
  const named = PROVIDERS.find((id) => wanted === id || wanted === lettersOf(PROVIDER_FACTS[id].title))
  return named ?? (Object.hasOwn(ALSO, wanted) ? ALSO[wanted] : value)
}

function lettersOf(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z]/g, '')
}
