import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { isPrivateHost } from '@svc/sdk/local-services'
import {
  DERIVATION_PATHS,
  KeyFileError,
  keyTextOfKeystore,
  keyTextOfMnemonic,
  newKeyText,
  writeKeyFile,
} from '@svc/sdk/node'
import type { Command } from 'commander'
import { Failure, UsageError } from '../errors.ts'
import { LOCAL_CHAIN } from '../output/networks.ts'
import { askSecret, readSecret } from '../output/secret.ts'
import { shown } from '../output/shown.ts'
import { pairs } from '../output/table.ts'
import type { Open, Session } from '../session.ts'
import { type Balance, readBalances } from './balances.ts'
import { openFolder } from './folder.ts'
import { isOnLocalChains } from './read-once.ts'
import { saveSetting } from './settings.ts'
import { type Key, keyInText, nodeFor } from './wallet.ts'

interface NewOptions {
  evm?: boolean
  out?: string
}

interface ImportOptions extends NewOptions {
  path?: string
}

export function add(program: Command, open: Open): void {
  const wallet = program.command('wallet').description('the keys that pay for lockers and own them')
  wallet
    .command('show', { isDefault: true })
    .description('show addresses and balances, like `svc wallet` without a subcommand')
    .action(async (_: object, command: Command) => show(await open(command)))
  wallet
    .command('new')
    .description('create a key in a file that only you can read')
    .option('--evm', 'for the EVM chain; by default for the primary chain')
    .option('-o, --out <file>', 'the file; it must not exist')
    .action(async (options: NewOptions, command: Command) => create(await open(command), options))
  wallet
    .command('import')
    .description('import an existing key')
    .argument('[file]', 'a file with the key; by default it is read from a pipe, or you are asked for it')
    .option('--evm', 'with words: the account of the EVM chain; by default of the primary chain')
    .option(
      '--path <path>',
      `with words: the derivation path; by default ${Object.values(DERIVATION_PATHS).join(' or ')}`,
    )
    .option('-o, --out <file>', 'the file to write; it must not exist')
    .addHelpText('after', FORMS)
    .action(async (file: string | undefined, options: ImportOptions, command: Command) =>
      importKey(await open(command), file, options),
    )
}

const FORMS = `
The key may be a Solana keypair file, a private key in base58 or hex, an encrypted EVM keystore
(its password is asked for, or taken from SVC_KEYSTORE_PASSWORD), or the 12 to 24 words of a wallet.
`

async function show(session: Session): Promise<void> {
  const keys = await session.keys()
  const wallets = await Promise.all(keys.map((key) => statusOf(session, key)))
  const isLocal = keys.length > 0 && (await isOnLocalChains(session))
  const areLocal = keys.map((key) => isLocal && hasPrivateNode(session, key))
  if (wallets.length === 0)
    throw new UsageError(
      'you have no wallet yet',
      'create one with `svc wallet new`, or import one with `svc wallet import`',
    )
  session.output.result({ wallets }, () =>
    wallets
      .map(({ address, from, balances, problem }, i) =>
        pairs([
          ['wallet', address],
          ['in', from],
          ...(areLocal[i] ? [['on', LOCAL_CHAIN] as const] : []),
          [
            'holds',
            balances ? balances.map(({ amount, asset }) => `${amount} ${asset}`).join(', ') : shown(problem ?? ''),
          ],
        ]),
      )
      .join('\n\n'),
  )
}

interface WalletStatus extends Pick<Key, 'address' | 'namespace' | 'from'> {
  balances: Balance[] | null
  /** Why the balances are unknown. */
  problem: string | null
}

/** A node elsewhere belongs to a public chain, even if the gateway does not. */
function hasPrivateNode({ settings, gateway }: Session, key: Key): boolean {
  try {
    return isPrivateHost(nodeFor(key, settings, gateway))
  } catch {
    return false
  }
}

async function statusOf({ settings, gateway, host }: Session, key: Key): Promise<WalletStatus> {
  const { address, namespace, from } = key
  try {
    const balances = await readBalances(key, nodeFor(key, settings, gateway), host.signal)
    return { address, namespace, from, balances, problem: null }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    const problem = [`not known: ${error.message}`, error.hint].filter((text) => text !== null).join('; ')
    return { address, namespace, from, balances: null, problem }
  }
}

async function create(session: Session, { evm = false, out }: NewOptions): Promise<void> {
  await saveKey(session, newKeyText(evm ? 'eip155' : 'solana'), out)
  session.output.note('Anyone who has this file controls its money: store a copy in a safe place.')
}

async function importKey(session: Session, file: string | undefined, options: ImportOptions): Promise<void> {
  const given = file === undefined ? await readSecret(session.host, 'The key or the words') : await readGiven(file)
  await saveKey(session, await plainKey(session, given.trim(), options), options.out)
}

/** Other users may be able to read an imported file, unlike a wallet in use: it can be deleted afterwards. */
async function readGiven(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(({ code }: NodeJS.ErrnoException) => {
    throw new UsageError(`${file} cannot be read: ${code === 'ENOENT' ? 'the file does not exist' : code}`)
  })
}

async function plainKey({ host }: Session, given: string, { evm = false, path }: ImportOptions): Promise<string> {
  try {
    if (given.startsWith('{')) {
      const password = host.env.SVC_KEYSTORE_PASSWORD ?? (await askSecret(host, 'The password of the keystore'))
      return keyTextOfKeystore(given, password)
    }
    if (!/\s/.test(given) || given.startsWith('[')) return given
    return await keyTextOfMnemonic(given, { namespace: evm ? 'eip155' : 'solana', ...(path !== undefined && { path }) })
  } catch (error) {
    if (!(error instanceof KeyFileError)) throw error
    throw new Failure(error.message, 'nothing was written')
  }
}

/** Writes the key to a file, which becomes the wallet of later commands unless they already have one. */
async function saveKey(
  { output, folder, settings, host }: Session,
  text: string,
  out: string | undefined,
): Promise<void> {
  const key = keyInText(text, 'the key')
  await openFolder(folder)
  const file =
    out === undefined ? join(folder, key.namespace === 'solana' ? 'wallet.json' : 'wallet-evm.key') : resolve(out)
  await writeKeyFile(file, text).catch(({ code, message }: NodeJS.ErrnoException) => {
    if (code !== 'EEXIST') throw new Failure(`the key cannot be written: ${message}`)
    throw new UsageError(`${file} already exists and is never overwritten`, 'name another file with --out')
  })
  const isInUse = settings.wallet === null
  if (isInUse) await saveSetting(folder, 'wallet', file)
  output.result({ address: key.address, namespace: key.namespace, file, in_use: isInUse }, () =>
    pairs([
      ['wallet', key.address],
      ['in', file],
    ]),
  )
  if (!isInUse) output.note(`To use it: \`svc config set wallet ${file}\`, or --wallet ${file}`)
  else if (host.env.SVC_EVM_KEY) output.note('SVC_EVM_KEY is also used.')
}
