// The lockers of the user's wallets, as the gateway lists them, for a machine that does not know them.

import { type ListedLocker, lockerName, nameObjection } from '@svc/sdk'
import { isGatewayError } from '@svc/sdk/errors'
import { Failure } from '../errors.ts'
import { bytesText, counted, short, timeText } from '../output/quantities.ts'
import { shown } from '../output/shown.ts'
import { table } from '../output/table.ts'
import type { Session } from '../session.ts'
import { type KnownLocker, knownLockers, named, rememberLocker } from '../setup/known-lockers.ts'
import { unusedName } from '../setup/locker-names.ts'
import type { Key } from '../setup/wallet.ts'

interface Found extends ListedLocker {
  /** Its name on this machine. */
  name: string | null
  /** Whether this command added it to the known lockers. */
  added: boolean
  /** The gateway that it is known at, if that is another one. */
  known_at?: string
}

/** Lists owned and operated lockers, and remembers the owned ones. Only the user adds lockers of others. */
export async function listRemote(session: Session): Promise<void> {
  const { output, folder, gateway } = session
  // Throws if there is no wallet.
  await session.keyFor(null)
  const keys = await session.keys()
  const known = await knownLockers(folder)
  // One wallet may own a locker that another operates.
  const listed = new Map<string, ListedLocker>()
  for (const key of keys) for await (const locker of lockersOf(session, key)) listed.set(locker.receipt_id, locker)
  const isOwn = ({ owner }: ListedLocker) => keys.some(({ address }) => address === owner)
  const own: Found[] = []
  for (const locker of [...listed.values()].filter(isOwn)) own.push(await remember(session, known, locker))
  const others: Found[] = []
  for (const locker of [...listed.values()].filter((one) => !isOwn(one))) others.push(ofOther(session, known, locker))
  if (output.isJson) for (const locker of [...own, ...others]) output.result(locker, () => '')
  else if (listed.size > 0) output.result([...own, ...others], () => foundText(own, others))
  else output.note(`${keys.map(({ address }) => address).join(', ')}: owns and operates no locker at ${gateway}`)
  adviseNext(session, own, others)
}

async function* lockersOf(session: Session, key: Key): AsyncGenerator<ListedLocker> {
  const client = await session.client(key)
  try {
    yield* client.lockers({ signal: session.host.signal })
  } catch (error) {
    if (!isGatewayError(error, 'not_found')) throw error
    const hint = 'it runs an earlier release; `svc lockers add RECEIPT` remembers a locker'
    throw new Failure('this gateway cannot list the lockers of a wallet', hint)
  }
}

/** Adds it to `known` as well. */
async function remember(
  { folder, gateway, host }: Session,
  known: KnownLocker[],
  locker: ListedLocker,
): Promise<Found> {
  const { receipt_id, locker_id, owner } = locker
  const before = known.find((one) => one.receipt_id === receipt_id)
  if (before && before.gateway !== gateway) return { ...locker, name: null, added: false, known_at: before.gateway }
  const name = before ? before.name : unusedName(wantedName(locker), known, gateway)
  const added_at = before?.added_at ?? new Date(host.now()).toISOString()
  const now: KnownLocker = { receipt_id, locker_id, gateway, owner, name, added_at }
  await rememberLocker(folder, now)
  known.push(now)
  return { ...locker, name, added: !before }
}

/** Uses the name that the user gave, if any. The name among its tags was chosen by its owner and is not trusted. */
function ofOther({ gateway }: Session, known: readonly KnownLocker[], locker: ListedLocker): Found {
  const { name = null } = named(known, gateway).find(({ receipt_id }) => receipt_id === locker.receipt_id) ?? {}
  return { ...locker, name, added: false }
}

/** The name of its purchase, or else a descriptive name. */
function wantedName({ tags, provider, paid_at }: ListedLocker): string {
  const names = [lockerName(tags) ?? '', `${provider}-${paid_at.slice(0, 10)}`]
  return names.find((name) => nameObjection(name) === null) ?? 'locker'
}

function foundText(own: readonly Found[], others: readonly Found[]): string {
  const tables = [own, others].map((found) => (found.length > 0 ? lockersText(found) : null))
  const [ofOwn, ofOthers] = tables
  return [ofOwn, ofOthers && `Lockers of others that you operate:\n${ofOthers}`].filter(Boolean).join('\n\n')
}

function lockersText(found: readonly Found[]): string {
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
    shown(role === 'owner' ? short(owner) : owner),
    opened ? String(file_count) : '-',
    opened ? bytesText(total_bytes) : 'not opened',
    shown(timeText(paid_at)),
    receipt_id,
  ])
  return table(columns, rows)
}

function adviseNext({ output, gateway }: Session, own: readonly Found[], others: readonly Found[]): void {
  const added = own.filter((locker) => locker.added)
  if (added.length > 0) {
    const names = added.map(({ name }) => name).join(', ')
    output.note(`\n${counted(added.length, 'locker')} added here: ${shown(names)}. \`svc ls -l NAME\` lists the files.`)
  }
  if (others.some(({ name }) => name === null))
    output.note(
      '\nAnyone can make you an operator. Add a locker only if you know its owner: `svc lockers add RECEIPT --name NAME`',
    )
  for (const { receipt_id } of own.filter(({ opened }) => !opened))
    output.note(`${receipt_id} is paid, but not open yet: \`svc provision ${receipt_id}\``)
  for (const { receipt_id, known_at = '' } of own.filter((locker) => locker.known_at !== undefined))
    output.warn(
      `${receipt_id} is known here as a locker of ${shown(known_at)}. If ${gateway} is the same gateway, run \`svc lockers rm ${receipt_id}\` and list again`,
    )
}
