import type { LockerMetadata } from '@svc/api/lockers'
import { printable } from '@svc/verifier/untrusted'

const NAME_TAG = 'name:'

/** The name among the tags, which the owner made up; null where there is none. */
export function nameOf({ tags }: Pick<LockerMetadata, 'tags'>): string | null {
  const name = tags.find((tag) => tag.startsWith(NAME_TAG))?.slice(NAME_TAG.length)
  return name ? printable(name, 100) : null
}
