import { type KnownLocker, named } from './known-lockers.ts'

/** The name, or a similar unused one: each name must identify one locker of this gateway. */
export function unusedName(wanted: string, known: readonly KnownLocker[], gateway: string): string {
  const taken = new Set(
    named(known, gateway).flatMap(({ name, locker_id, receipt_id }) => [name, locker_id, receipt_id]),
  )
  let name = wanted
  for (let count = 2; taken.has(name); count++) name = `${wanted}-${count}`
  return name
}
