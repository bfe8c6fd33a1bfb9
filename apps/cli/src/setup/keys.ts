import { discovery, keys as keysEndpoint, type SigningKeys } from '@svc/api/info'
import { isoSeconds } from '@svc/protocol/evidence'
import { type FollowedKeys, followKeys } from '@svc/protocol/follow-keys'
import { issuerKeyId } from '@svc/protocol/ids'
import type { NoteKey } from '@svc/protocol/transparency/note'
import { type PinnedKey, readPinnedKeys } from '@svc/verifier/pinned-keys'
import type { Command } from 'commander'
import { Failure, NotVerified, UsageError } from '../errors.ts'
import { counted } from '../output/quantities.ts'
import { shown } from '../output/shown.ts'
import { table } from '../output/table.ts'
import type { Open, Session } from '../session.ts'
import { keyHexes, logTexts, type Pins, type ReadPins, readPins, savePins } from './pinned.ts'

interface PinOptions {
  replace?: boolean
}

export function add(program: Command, open: Open): void {
  const keys = program.command('keys').description('the keys that a gateway signs with')
  keys
    .command('show', { isDefault: true })
    .description(
      'show the keys of the gateway and compare them with the pinned ones, like `svc keys` without a subcommand',
    )
    .action(async (_: object, command: Command) => show(await open(command)))
  keys
    .command('pin')
    .description('trust only these keys from now on')
    .argument('[key...]', 'public keys in hex, from a trusted source; by default the gateway’s own list is trusted')
    .option('--replace', 'replace keys that are already pinned')
    .action(async (hexes: string[], options: PinOptions, command: Command) => pin(await open(command), hexes, options))
}

async function show(session: Session): Promise<void> {
  const { output, host, folder, gateway } = session
  const { body } = await (await session.client()).call(keysEndpoint, { signal: host.signal })
  const pins = await readPins(folder, gateway)
  const found = pins && (await follow(session, pins, body))
  const trusted = new Set(found?.keys.map(({ publicKeyHex }) => publicKeyHex))
  const knownLogs = logTexts(pins?.listed.logs ?? [])
  const logs = (body.logs ?? []).map((log) => ({ ...log, pinned: knownLogs.includes(log.vkey) }))
  const document = {
    ...body,
    keys: body.keys.map((key) => ({ ...key, pinned: trusted.has(key.public_key_hex) })),
    logs,
    ...(found && { followed: [...found.paths.keys()], revoked: [...found.revoked.keys()] }),
  }
  output.result(document, () => keysText(document.keys, body.next ?? [], logs))
  if (!found) return output.note('\nNo key is pinned: `svc keys pin` trusts these from now on.')
  for (const [hex, since] of found.revoked) {
    if (trusted.has(hex))
      output.warn(`${issuerKeyId(hex)} was revoked as of ${isoSeconds(since)}: it may have been stolen`)
  }
  const unpinned = body.keys.filter(({ public_key_hex }) => !trusted.has(public_key_hex))
  if (unpinned.length > 0)
    throw new NotVerified(
      `the gateway shows keys that are not pinned: ${[...new Set(unpinned.map(named(found)))].join(', ')}`,
      'ask the gateway’s admin through another channel; then `svc keys pin --replace`',
    )
  const unpinnedLog = logs.find(({ pinned }) => !pinned)
  if (unpinnedLog && knownLogs.length > 0) throw otherLog(unpinnedLog.vkey)
}

function otherLog(vkey: string): NotVerified {
  return new NotVerified(
    `the gateway shows a log that is not pinned: ${shown(vkey)}`,
    'ask the gateway’s admin why there is a new log; then `svc keys pin --replace`',
  )
}

function named({ refused }: FollowedKeys) {
  return ({ key_id, public_key_hex }: SigningKeys['keys'][number]) => {
    const refusal = refused.get(public_key_hex)
    return refusal === undefined ? key_id : `${key_id} (its endorsement is refused: ${refusal})`
  }
}

/** Also pins the keys that pinned keys have endorsed, with the endorsements (ADD-37). */
async function follow(
  { output, folder, gateway, host }: Session,
  pins: ReadPins,
  list: SigningKeys,
): Promise<FollowedKeys> {
  const { pinned, before, listed, read: _, file: __, ...saved } = pins
  const { endorsements = [], revocations = [] } = list
  const changes = {
    endorsements: [...listed.changes.endorsements, ...endorsements],
    revocations: [...listed.changes.revocations, ...revocations],
  }
  const found = followKeys({ pinned, before, recovery: listed.recovery, changes, audience: gateway })
  if (found.paths.size === 0 && found.revoked.size === 0) return found
  const step = {
    followed_at: new Date(host.now()).toISOString(),
    keys: found.keys.filter(({ publicKeyHex }) => found.paths.has(publicKeyHex)),
    endorsements: [...new Set([...found.paths.values()].flat())],
  }
  const steps = [...(pins.followed ?? []), ...(found.paths.size > 0 ? [step] : [])]
  await savePins(folder, { ...saved, followed: steps, revocations: found.revocations })
  for (const [hex, path] of found.paths) {
    const ids = [...path.map(({ body }) => body.endorser.key_id), issuerKeyId(hex)]
    output.warn(
      `THE GATEWAY HAS A NEW KEY, ${hex}. It is trusted from now on, because a pinned key endorsed it: ${ids.join(' → ')}`,
    )
  }
  return found
}

type ShownKey = SigningKeys['keys'][number] & { pinned: boolean }

function keysText(
  keys: readonly ShownKey[],
  next: NonNullable<SigningKeys['next']>,
  logs: readonly { vkey: string; pinned: boolean }[],
): string {
  const columns = ['PUBLIC KEY', 'USE', 'STATUS', 'PINNED'].map((title) => ({ title }))
  const rows = keys.map(({ public_key_hex, use, status, revoked_since, pinned }) => [
    shown(public_key_hex),
    shown(use),
    revoked_since === undefined ? shown(status) : 'revoked',
    pinned ? 'yes' : 'no',
  ])
  const announced = next.map(({ public_key_hex, valid_from }) => [
    shown(public_key_hex),
    'all',
    `from ${shown(valid_from)}`,
    'no',
  ])
  const ofLogs = logs.map(({ vkey, pinned }) => [shown(vkey), 'log', 'active', pinned ? 'yes' : 'no'])
  return table(columns, [...rows, ...announced, ...ofLogs])
}

async function pin(session: Session, hexes: readonly string[], { replace = false }: PinOptions): Promise<void> {
  const { output, folder, gateway, host } = session
  const pinned_at = new Date(host.now()).toISOString()
  const found = hexes.length > 0 ? givenHexKeys(hexes) : await keysOfGateway(session)
  const pins: Pins = { gateway, pinned_at, ...found }
  const read = readPinnedKeys(pins.keys)
  if (!read.ok) throw hexes.length > 0 ? new UsageError(read.problem) : new Failure(`its key list: ${read.problem}`)
  if (!replace) requireUnpinned(await readPins(folder, gateway), read)
  const file = await savePins(folder, pins)
  const [keys, logs] = [keyHexes(read.keys), logTexts(read.logs)]
  const ofLogs = logs.length > 0 ? `, and ${counted(logs.length, 'log')}: ${logs.join(', ')}` : ''
  output.result(
    { file, ...pins, keys, logs },
    () => `${counted(keys.length, 'key')} of ${gateway} pinned: ${keys.join(', ')}${ofLogs}`,
  )
  if (hexes.length === 0)
    output.note('They came from the gateway itself. Compare them with the keys that its admin publishes elsewhere.')
}

type KeysToPin = Pick<Pins, 'keys' | 'anchor_signer' | 'domain_tag'>

function givenHexKeys(hexes: readonly string[]): KeysToPin {
  return { keys: hexes.join('\n'), anchor_signer: null, domain_tag: null }
}

async function keysOfGateway(session: Session): Promise<KeysToPin> {
  const client = await session.client()
  const { signal } = session.host
  const [list, index] = await Promise.all([client.call(keysEndpoint, { signal }), client.call(discovery, { signal })])
  const { anchor_signer, domain_tag } = index.body.evidence
  return { keys: JSON.stringify(list.body), anchor_signer: anchor_signer || null, domain_tag }
}

/** A log may be added to keys that were pinned without one. */
function requireUnpinned(before: ReadPins | null, found: { keys: PinnedKey[]; logs: NoteKey[] }): void {
  if (!before) return
  const [known, keys] = [keyHexes(before.read), keyHexes(found.keys)]
  const [knownLogs, logs] = [logTexts(before.listed.logs), logTexts(found.logs)]
  const unpinnedLog = logs.find((vkey) => !knownLogs.includes(vkey))
  if (knownLogs.length > 0 && unpinnedLog !== undefined) throw otherLog(unpinnedLog)
  if (known.length === keys.length && known.every((key) => keys.includes(key))) return
  throw new NotVerified(
    `other keys have been pinned since ${before.pinned_at}: ${known.join(', ')}`,
    'if the gateway’s admin confirms that the keys have changed: `svc keys pin --replace`',
  )
}
