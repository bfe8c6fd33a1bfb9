// What must never be sent: files of a locker can be read by whoever knows its receipt and their names.

import type { Stats } from 'node:fs'
import { stat } from 'node:fs/promises'

/** Whether something on disk is one of these files or folders, by whatever path one got there. */
export type IsSecret = (facts: Stats) => boolean

export async function secretsAt(paths: readonly string[]): Promise<IsSecret> {
  const facts = await Promise.all(paths.map((path) => stat(path).catch(() => null)))
  const secrets = new Set(facts.flatMap((one) => (one ? [identityOf(one)] : [])))
  return (one) => secrets.has(identityOf(one))
}

function identityOf({ dev, ino }: Stats): string {
  return `${dev} ${ino}`
}
