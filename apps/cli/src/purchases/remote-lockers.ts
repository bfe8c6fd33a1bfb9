// The lockers of the user's wallets as the gateway lists them, for a machine that does not know them.

import { type ListedLocker, lockerName } from '@svc/sdk'
import { isGatewayError } from '@svc/sdk/errors'
import { Failure } from '../errors.ts'
import { bytesText, counted, short, timeText } from '../output/quantities.ts'
import { shown } from '../output/shown.ts'
import { table } from '../output/table.ts'
import type { Session } from '../session.ts'
import { type KnownLocker, knownLockers, rememberLocker } from '../setup/known-lockers.ts'
import { isPlainName, unusedName } from '../setup/locker-names.ts'
import type { Key } from '../setup/wallet.ts'

interface Found extends ListedLocker {
  /** Its name on this machine. */
  name: string | null
  /** Whether this command made it known. */
  added: boolean
  /** The gateway that it is known at, where that is another one. */
  known_at?: string
}

/** Lists what the wallets own and operate, and remembers what was not known. */
export async function listRemote(session: Session): Promise<void> {
  const { output, folder, gateway } = session
  // Throws if there is none.
  await session.keyFor(null)
  const keys = await session.keys()
  const known = await knownLockers(folder)
  const found: Found[] = []
  for (const key of keys) {
    for await (const locker of lockersOf(session, key)) {
      // One wallet may own it, and another operate it.
      const isListed = found.some(({ receipt_id }) => receipt_id === locker.receipt_id)
      if (!isListed) found.push(await remember(session, known, locker, key))
    }
  }
  if (output.isJson) for (const locker of found) output.result(locker, () => '')
  else if (found.length > 0) output.result(found, () => foundText(found))
  else output.note(`${keys.map(({ address }) => address).join(', ')}: owns and operates nothing at ${gateway}`)
  adviseNext(session, found)
}

async function* lockersOf(session: Session, key: Key): AsyncGenerator<ListedLocker> {
  const client = await session.client(key)
  try {
    yield* client.lockers({ signal: session.world.signal })
  } catch (error) {
    if (!isGatewayError(error, 'not_found')) throw error
    const hint = 'it is of an earlier release; `svc lockers add RECEIPT` remembers a locker'
    throw new Failure('this gateway cannot list the lockers of a wallet', hint)
  }
}

/** Adds it to `known` as well. */
async function remember(
  { folder, gateway, world }: Session,
  known: KnownLocker[],
  locker: ListedLocker,
  key: Key,
): Promise<Found> {
  const { receipt_id, locker_id, owner, role } = locker
  const before = known.find((one) => one.receipt_id === receipt_id)
  if (before && before.gateway !== gateway) return { ...locker, name: null, added: false, known_at: before.gateway }
  const name = before ? before.name : unusedName(wantedName(locker), known, gateway)
  const added_at = before?.added_at ?? new Date(world.now()).toISOString()
  const operator = role === 'operator' && { operator: key.address }
  const now: KnownLocker = { receipt_id, locker_id, gateway, owner, name, added_at, ...operator }
  await rememberLocker(folder, now)
  known.push(now)
  return { ...locker, name, added: !before }
}

/** The name that it was bought under, else one that says what it is. */
function wantedName({ tags, provider, paid_at }: ListedLocker): string {
  const names = [lockerName(tags), `${provider}-${paid_at.slice(0, 10)}`]
  return names.find(isPlainName) ?? 'locker'
}

function foundText(found: readonly Found[]): string {
  const columns = [
    { title: 'NAME' },
    { title: 'LOCKER' },
    { title: 'ROLE' },
    { title: 'OWNER' },
    { title: 'FILES', isRight: true },
    { title: 'SIZE', isRight: true },
    { title: 'PAID' },
    { title: 'RECEIPT' },
  ]
  const rows = found.map(({ name, locker_id, role, owner, opened, file_count, total_bytes, paid_at, receipt_id }) => [
    shown(name ?? '-'),
    locker_id,
    shown(role),
    shown(short(owner)),
    opened ? String(file_count) : '-',
    opened ? bytesText(total_bytes) : 'not opened',
    shown(timeText(paid_at)),
    receipt_id,
  ])
  return table(columns, rows)
}

function adviseNext({ output, gateway }: Session, found: readonly Found[]): void {
  const added = found.filter((locker) => locker.added)
  if (added.length > 0) {
    const names = added.map(({ name }) => name).join(', ')
    output.note(`\n${counted(added.length, 'locker')} added here: ${shown(names)}. \`svc ls -l NAME\` lists the files.`)
  }
  for (const { receipt_id } of found.filter(({ opened }) => !opened))
    output.note(`${receipt_id} is paid, but was never opened: \`svc provision ${receipt_id}\``)
  for (const { receipt_id, known_at = '' } of found.filter((locker) => locker.known_at !== undefined))
    output.warn(
      `${receipt_id} is known here as a locker of ${shown(known_at)}. If ${gateway} is the same gateway, \`svc lockers rm ${receipt_id}\` and list again`,
    )
}
