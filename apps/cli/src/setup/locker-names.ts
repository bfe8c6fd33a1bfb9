// Names of lockers as the gateway gives them, made fit for this machine.

import type { KnownLocker } from './known-lockers.ts'

const PLAIN_NAME = /^[\p{L}\p{N}][\p{L}\p{N} ._@+-]{0,63}$/u

/** Whether a name may be typed and shown as it is, and is not like an id. */
export function isPlainName(name: string | null): name is string {
  return name !== null && PLAIN_NAME.test(name) && !/^(rcpt|locker)_/.test(name)
}

/** The name, or one like it: a command must not take the locker for another one of this gateway. */
export function unusedName(wanted: string, known: readonly KnownLocker[], gateway: string): string {
  const here = known.filter((locker) => locker.gateway === gateway)
  const taken = new Set(here.flatMap(({ name, locker_id, receipt_id }) => [name, locker_id, receipt_id]))
  let name = wanted
  for (let count = 2; taken.has(name); count++) name = `${wanted}-${count}`
  return name
}
