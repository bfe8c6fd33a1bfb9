import { type Discovery, discovery, type Health, health } from '@svc/api/info'
import { INTERFACE_VERSION } from '@svc/protocol/names'
import { MAX_CLOCK_LEAD_SECONDS } from '@svc/protocol/request-envelope'
import { VERSION } from '@svc/protocol/version'
import { nodeNetwork } from '@svc/sdk/node'
import type { Command } from 'commander'
import { Failure } from '../errors.ts'
import { networkText, networkTitle } from '../output/networks.ts'
import { durationText } from '../output/quantities.ts'
import { shown } from '../output/shown.ts'
import { describeError } from '../report.ts'
import type { Open, Session } from '../session.ts'
import { readBalances } from './balances.ts'
import { localHint } from './local-hint.ts'
import { readPins } from './pinned.ts'
import { readOnce } from './read-once.ts'
import { type Key, nodeFor } from './wallet.ts'

export function add(program: Command, open: Open): void {
  program
    .command('doctor')
    .description('check everything that commands need, and show how to fix what is missing')
    .action(async (_: object, command: Command) => examine(await open(command)))
}

interface Finding {
  check: string
  state: 'ok' | 'warning' | 'failed'
  text: string
  /** The next step; null if nothing needs to be done. */
  next: string | null
}

const ok = (check: string, text: string): Finding => ({ check, state: 'ok', text, next: null })
const warning = (check: string, text: string, next: string): Finding => ({ check, state: 'warning', text, next })
const failed = (check: string, text: string, next: string): Finding => ({ check, state: 'failed', text, next })

async function examine(session: Session): Promise<void> {
  const { output } = session
  const findings: Finding[] = [ok('svc', `version ${VERSION}, Node ${process.version}, config in ${session.folder}`)]
  const index = await examineGateway(session, findings)
  if (index) findings.push(await examineKeys(session))
  findings.push(...(await examineWallets(session, index)))
  const isReady = findings.every(({ state }) => state !== 'failed')
  output.result({ ok: isReady, findings }, () => findings.map((finding) => line(session, finding)).join('\n'))
  if (!isReady) throw new Failure('not everything is ready', 'see the lines marked with ✗')
}

function line({ output: { style } }: Session, { check, state, text, next }: Finding): string {
  const mark = { ok: style.good('✓'), warning: style.strong('!'), failed: style.bad('✗') }[state]
  return `${mark} ${check.padEnd(10)}${shown(text)}${next === null ? '' : `\n  ${' '.repeat(10)}→ ${shown(next)}`}`
}

/** Returns the gateway's index; null if it does not answer. */
async function examineGateway(session: Session, findings: Finding[]): Promise<Discovery | null> {
  const { gateway, host } = session
  try {
    const asked = performance.now()
    const [state, index] = await Promise.all([
      readOnce<Health>(session, health.path),
      readOnce<Discovery>(session, discovery.path),
    ])
    const took = Math.round(performance.now() - asked)
    findings.push(healthFinding(gateway, state, `${index.environment}, answers in ${took} ms`))
    findings.push(versionFinding(state))
    findings.push(clockFinding((Date.parse(state.time) - host.now()) / 1000))
    return index
  } catch (error) {
    host.signal.throwIfAborted()
    const { message, hint } = describeError(error)
    const next = (await localHint(error)) ?? hint ?? 'try again later, or ask its admin'
    findings.push(failed('gateway', message, next))
    return null
  }
}

function healthFinding(gateway: string, { status, checks, providers, warnings = [] }: Health, text: string): Finding {
  const parts = Object.entries({ ...checks, ...providers }).filter(([, state]) => state === 'failing')
  if (status === 'ok' && parts.length === 0 && warnings.length === 0) return ok('gateway', `${gateway} (${text})`)
  const problems = [...parts.map(([name]) => `${name} is failing`), ...warnings].join('; ')
  return warning('gateway', `${gateway} (${text}) is unhealthy: ${problems}`, 'some commands may fail; ask its admin')
}

function versionFinding({ version }: Health): Finding {
  if (version === INTERFACE_VERSION)
    return ok('versions', `svc and the gateway use version ${version} of the interface`)
  const text = `the gateway uses version ${shown(version)} of the interface, and svc ${INTERFACE_VERSION}`
  const [theirs, ours] = [version, INTERFACE_VERSION].map((one) => one.split('.')[0])
  if (theirs === ours) return ok('versions', text)
  return warning('versions', text, 'install a version of svc for that interface')
}

function clockFinding(ahead: number): Finding {
  const seconds = Math.round(Math.abs(ahead))
  if (seconds <= MAX_CLOCK_LEAD_SECONDS) return ok('clock', `within ${Math.max(1, seconds)} s of the gateway's clock`)
  const text = `yours is ${durationText(seconds)} ${ahead > 0 ? 'behind' : 'ahead of'} the gateway's clock: it refuses your signatures`
  return failed('clock', text, 'set the clock of this machine, preferably with NTP')
}

async function examineKeys({ folder, gateway }: Session): Promise<Finding> {
  const pins = await readPins(folder, gateway)
  if (pins) return ok('keys', `the keys of the gateway have been pinned since ${pins.pinned_at.slice(0, 10)}`)
  return warning('keys', 'the keys of the gateway are not pinned: any key that it shows is trusted', '`svc keys pin`')
}

async function examineWallets(session: Session, index: Discovery | null): Promise<Finding[]> {
  try {
    const keys = await session.keys()
    if (keys.length === 0) return [failed('wallet', 'you have no wallet', '`svc wallet new`, or `svc wallet import`')]
    return (await Promise.all(keys.map((key) => examineWallet(session, key, index)))).flat()
  } catch (error) {
    const { message, hint } = describeError(error)
    return [failed('wallet', message, hint ?? 'name another wallet with --wallet')]
  }
}

async function examineWallet(session: Session, key: Key, index: Discovery | null): Promise<Finding[]> {
  const { settings, gateway, host } = session
  const wallet = ok('wallet', `${key.address} (${key.from})`)
  try {
    const rpcUrl = nodeFor(key, settings, gateway)
    const { host: node } = new URL(rpcUrl)
    const network = await networkOf(key, rpcUrl, host.signal)
    const sold = index?.payment.networks.map((one) => one.network) ?? [network]
    const isLocal = index?.environment === 'development' && sold.includes(network)
    const chain = sold.includes(network)
      ? ok('node', `${node} is on ${networkText(network, { isLocal })}`)
      : failed(
          'node',
          `${node} is on ${networkTitle(network)}, where this gateway sells nothing`,
          `use a node of ${sold.map(networkTitle).join(', ')}`,
        )
    const balances = await readBalances(key, rpcUrl, host.signal)
    const amounts = balances.map(({ amount, asset }) => `${amount} ${asset}`).join(', ')
    const isEmpty = balances.every(({ amount }) => amount === '0')
    const fill = index?.environment === 'development' ? '`svc faucet` fills it' : `send coins to ${key.address}`
    return [wallet, chain, isEmpty ? warning('balance', amounts, fill) : ok('balance', amounts)]
  } catch (error) {
    host.signal.throwIfAborted()
    const { message, hint } = describeError(error)
    return [wallet, warning('node', message, hint ?? 'payments need a node: --primary-rpc or --evm-rpc')]
  }
}

/** The CAIP-2 id of the node's chain. */
async function networkOf({ namespace }: Key, rpcUrl: string, signal: AbortSignal): Promise<string> {
  try {
    return await nodeNetwork(namespace, rpcUrl, { signal, timeoutMs: 10_000 })
  } catch (error) {
    signal.throwIfAborted()
    const { host: node } = new URL(rpcUrl)
    throw new Failure(
      `the node at ${node} does not answer: ${(error as Error).message}`,
      'check that it is running at this address',
    )
  }
}
