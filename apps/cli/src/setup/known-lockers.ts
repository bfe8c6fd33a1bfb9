// The lockers that this machine knows. Each has its own file, so that concurrent commands cannot overwrite each other.

import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { lockerId } from '@svc/protocol/ids'
import { UsageError } from '../errors.ts'
import { readJson, writeJson } from './folder.ts'

export interface KnownLocker {
  receipt_id: string
  locker_id: string
  gateway: string
  /** Null if the locker was added by its receipt. */
  owner: string | null
  name: string | null
  added_at: string
  /**
   * The key that operates the locker. Only version 1.1.0 wrote it, which remembered lockers of others without being
   * asked. The name came from the owner, so no command finds the locker by name until the user adds it again.
   */
  operator?: string
}

export function isReceiptId(text: string): boolean {
  return /^rcpt_[0-9a-f]{32}$/.test(text)
}

/** A known locker keeps the fields that the new entry does not have, except a name that its owner chose. */
export async function rememberLocker(folder: string, locker: KnownLocker): Promise<KnownLocker> {
  const file = fileOf(folder, locker.receipt_id)
  const known = await readJson<KnownLocker>(file)
  const { operator, ...before }: Partial<KnownLocker> = known?.gateway === locker.gateway ? known : {}
  const merged = {
    ...before,
    ...locker,
    name: locker.name ?? (operator === undefined ? before.name : null) ?? null,
    owner: locker.owner ?? before.owner ?? null,
  }
  await writeJson(file, merged)
  return merged
}

/** The lockers at a gateway that the user named or bought. */
export function named(known: readonly KnownLocker[], gateway: string): KnownLocker[] {
  return known.filter((locker) => locker.gateway === gateway && locker.operator === undefined)
}

/** Returns whether the locker was known. */
export async function forgetLocker(folder: string, receiptId: string): Promise<boolean> {
  const isKnown = (await readJson(fileOf(folder, receiptId))) !== null
  await rm(fileOf(folder, receiptId), { force: true })
  return isKnown
}

/** Oldest first. By default a file that cannot be read is an error. */
export async function knownLockers(
  folder: string,
  onUnreadable: (error: unknown) => null = raise,
): Promise<KnownLocker[]> {
  const names = await readdir(join(folder, 'lockers')).catch(() => [])
  const ids = names.map((name) => name.replace(/\.json$/, '')).filter(isReceiptId)
  const lockers = await Promise.all(ids.map((id) => readJson<KnownLocker>(fileOf(folder, id)).catch(onUnreadable)))
  return lockers.filter((locker) => locker !== null).sort((a, b) => (a.added_at < b.added_at ? -1 : 1))
}

function raise(error: unknown): never {
  throw error
}

function fileOf(folder: string, receiptId: string): string {
  return join(folder, 'lockers', `${receiptId}.json`)
}

export type NamedLocker = Pick<KnownLocker, 'receipt_id' | 'locker_id' | 'owner' | 'name'>

/** Finds a locker by receipt id, locker id or name; without one, the only locker at the gateway. */
export function findLocker(known: readonly KnownLocker[], gateway: string, wanted: string | null): NamedLocker {
  const here = named(known, gateway)
  if (wanted === null) return onlyLocker(known, here, gateway)
  const isWanted = ({ receipt_id, locker_id, name }: KnownLocker) => [receipt_id, locker_id, name].includes(wanted)
  const found = here.filter(isWanted)
  if (found.length > 1) throw new UsageError(`several lockers have the name ${wanted}`, `give one of: ${idsOf(found)}`)
  if (found[0]) return found[0]
  const ofOther = known.find((locker) => locker.gateway === gateway && isWanted(locker))
  if (ofOther?.name === wanted) throw namedByOwner(ofOther)
  if (ofOther) return ofOther
  if (isReceiptId(wanted)) return { receipt_id: wanted, locker_id: lockerId(wanted), owner: null, name: null }
  throw new UsageError(`no locker ${JSON.stringify(wanted)} is known at ${gateway}`, adviceFor(known, here, wanted))
}

function namedByOwner({ receipt_id, owner, name }: KnownLocker): UsageError {
  return new UsageError(
    `${name} is the name that ${owner} gave to a locker that you only operate`,
    `to use their locker: \`svc lockers add ${receipt_id} --name NAME\``,
  )
}

function onlyLocker(known: readonly KnownLocker[], here: readonly KnownLocker[], gateway: string): NamedLocker {
  const [first, ...others] = here
  if (!first) throw new UsageError(`no locker is known at ${gateway}`, adviceWithout(known))
  if (others.length === 0) return first
  throw new UsageError(
    `name one of the ${here.length} lockers that are known at ${gateway}`,
    `give --locker with one of: ${idsOf(here)}`,
  )
}

function idsOf(lockers: readonly KnownLocker[]): string {
  return lockers.map(({ name, locker_id }) => name ?? locker_id).join(', ')
}

function adviceFor(known: readonly KnownLocker[], here: readonly KnownLocker[], wanted: string): string {
  const elsewhere = known.find(({ receipt_id, locker_id, name }) => [receipt_id, locker_id, name].includes(wanted))
  if (elsewhere) return `it is at another gateway: --gateway ${elsewhere.gateway}`
  if (here.length > 0) return `known are: ${idsOf(here)}`
  return '`svc lockers --remote` finds the lockers of your wallet; --locker also accepts a receipt id (rcpt_…)'
}

function adviceWithout(known: readonly KnownLocker[]): string {
  const gateways = [...new Set(known.map(({ gateway }) => gateway))].join(', ')
  const elsewhere = gateways === '' ? '' : `; lockers are known at ${gateways} (--gateway)`
  return `\`svc buy\` buys one; \`svc lockers --remote\` finds the lockers of your wallet${elsewhere}`
}
