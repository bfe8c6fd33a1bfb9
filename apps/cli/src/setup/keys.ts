import { discovery, keys as keysEndpoint, type SigningKeys } from '@svc/api/info'
import { readPinnedKeys } from '@svc/verifier/pinned-keys'
import type { Command } from 'commander'
import { Failure, NotVerified, UsageError } from '../errors.ts'
import { counted } from '../output/quantities.ts'
import { shown } from '../output/shown.ts'
import { table } from '../output/table.ts'
import type { Open, Session } from '../session.ts'
import { keyHexes, type Pins, type ReadPins, readPins, savePins } from './pinned.ts'

interface PinOptions {
  replace?: boolean
}

export function add(program: Command, open: Open): void {
  const keys = program.command('keys').description('the keys that a gateway signs with')
  keys
    .command('show', { isDefault: true })
    .description('show the keys of the gateway and compare them with the pinned ones, as `svc keys` alone does')
    .action(async (_: object, command: Command) => show(await open(command)))
  keys
    .command('pin')
    .description('trust these keys, and no others, from here on')
    .argument(
      '[key...]',
      'public keys in hex, which you got another way; without them the gateway is asked and believed',
    )
    .option('--replace', 'also where other keys are pinned already')
    .action(async (hexes: string[], options: PinOptions, command: Command) => pin(await open(command), hexes, options))
}

async function show(session: Session): Promise<void> {
  const { output, world, folder, gateway } = session
  const { body } = await (await session.client()).call(keysEndpoint, { signal: world.signal })
  const pins = await readPins(folder, gateway)
  const trusted = new Set(pins && keyHexes(pins.read))
  const document = { ...body, keys: body.keys.map((key) => ({ ...key, pinned: trusted.has(key.public_key_hex) })) }
  output.result(document, () => keysText(document.keys))
  if (!pins) return output.note('\nNone is pinned: `svc keys pin` trusts them from here on.')
  const strange = body.keys.filter(({ public_key_hex }) => !trusted.has(public_key_hex))
  if (strange.length > 0)
    throw new NotVerified(
      `the gateway shows keys that are not pinned: ${[...new Set(strange.map(({ key_id }) => key_id))].join(', ')}`,
      'ask its operator, not the gateway; then `svc keys pin --replace`',
    )
}

function keysText(keys: readonly (SigningKeys['keys'][number] & { pinned: boolean })[]): string {
  const columns = ['PUBLIC KEY', 'USE', 'STATUS', 'PINNED'].map((title) => ({ title }))
  const rows = keys.map(({ public_key_hex, use, status, pinned }) => [
    shown(public_key_hex),
    shown(use),
    shown(status),
    pinned ? 'yes' : 'no',
  ])
  return table(columns, rows)
}

async function pin(session: Session, hexes: readonly string[], { replace = false }: PinOptions): Promise<void> {
  const { output, folder, gateway, world } = session
  const pinned_at = new Date(world.now()).toISOString()
  const found = hexes.length > 0 ? keysInHand(hexes) : await keysOfGateway(session)
  const pins: Pins = { gateway, pinned_at, ...found }
  const read = readPinnedKeys(pins.keys)
  if (!read.ok) throw hexes.length > 0 ? new UsageError(read.problem) : new Failure(`its key list: ${read.problem}`)
  requireUnpinned(await readPins(folder, gateway), keyHexes(read.keys), replace)
  const file = await savePins(folder, pins)
  const keys = keyHexes(read.keys)
  output.result(
    { file, ...pins, keys },
    () => `${counted(keys.length, 'key')} of ${gateway} pinned: ${keys.join(', ')}`,
  )
  if (hexes.length === 0)
    output.note('They came from the gateway itself. Compare them with what its operator publishes elsewhere.')
}

type KeysToPin = Pick<Pins, 'keys' | 'anchor_signer' | 'domain_tag'>

function keysInHand(hexes: readonly string[]): KeysToPin {
  return { keys: hexes.join('\n'), anchor_signer: null, domain_tag: null }
}

async function keysOfGateway(session: Session): Promise<KeysToPin> {
  const client = await session.client()
  const { signal } = session.world
  const [list, index] = await Promise.all([client.call(keysEndpoint, { signal }), client.call(discovery, { signal })])
  const { anchor_signer, domain_tag } = index.body.evidence
  return { keys: JSON.stringify(list.body), anchor_signer: anchor_signer || null, domain_tag }
}

function requireUnpinned(before: ReadPins | null, keys: readonly string[], replace: boolean): void {
  if (!before || replace) return
  const known = keyHexes(before.read)
  if (known.length === keys.length && known.every((key) => keys.includes(key))) return
  throw new NotVerified(
    `other keys are pinned since ${before.pinned_at}: ${known.join(', ')}`,
    'if its operator says that the keys have changed: `svc keys pin --replace`',
  )
}
