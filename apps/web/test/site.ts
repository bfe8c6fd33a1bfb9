// For tests: a browser, and a gateway with everything that the pages show, at its root and under a prefix.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Anchor } from '@svc/api/attestations'
import { DEV_TREASURY } from '@svc/devnet/evm-chain/dev-accounts'
import { startEvmChain } from '@svc/devnet/evm-chain/start'
import { forAllTests } from '@svc/devnet/for-tests'
import { freePort } from '@svc/devnet/free-port'
import type { Landing } from '@svc/devnet/landing'
import type { ChainAddresses } from '@svc/devnet/pay-leg'
import { PUBLICATION, TREASURY } from '@svc/devnet/primary-chain/dev-accounts'
import { startPrimaryChain } from '@svc/devnet/primary-chain/start'
import { startRateServer } from '@svc/devnet/rate-server'
import { startTestGateway } from '@svc/devnet/services/gateway'
import { seedLocker } from '@svc/devnet/services/seed-lockers'
import { startTestWitness } from '@svc/devnet/services/witness'
import { ed25519Signer } from '@svc/protocol/keys'
import { formatKey, type NoteKey } from '@svc/protocol/transparency/note'
import { createClient } from '@svc/sdk'
import { signerFromSolanaKeypair } from '@svc/sdk/signers'
import { type Browser, chromium } from 'playwright'
import { afterAll } from 'vitest'
import { chromiumPath } from '../../../scripts/chromium.ts'
import { ensurePages } from '../build/ensure-pages.ts'

export interface Site {
  url: string
  /** The same gateway behind a proxy that mounts it at `/svc`. */
  prefixedUrl: string
  browser: Browser
  /** The gateway behind both addresses. */
  gateway: Awaited<ReturnType<typeof startTestGateway>>
  /** The keypair of an owner, as in a key file. */
  keypair: number[]
  locker: { locker_id: string; receipt_id: string }
  digest: string
  anchor: Anchor
  /** The text of an evidence bundle. */
  bundle: string
  /** The addresses of the chains' nodes; without the EVM chain, its address is empty. */
  chains: ChainAddresses
  close(): Promise<void>
}

export interface SiteOptions {
  /** Whether the gateway also sells on the EVM chain and for coins. */
  withAllAssets?: boolean
  /** Whether the gateway has a log, which a witness cosigns. */
  withLog?: boolean
  /** Settings of the gateway in addition to the usual ones. */
  variables?: () => Promise<Record<string, string>>
  /** When transactions of the primary chain land; `later` by default. */
  landing?: Landing
}

const LOG_SEED = Buffer.alloc(32, 7)
export const LOG_SIGNER = ed25519Signer(LOG_SEED)
export const LOG_KEY: NoteKey = { name: 'gateway.example/log', type: 'log', publicKey: LOG_SIGNER.publicKey }

/** A site for all tests of a file. */
export function useSite(options: SiteOptions = {}): Site {
  return forAllTests(() => openSite(options))
}

/** One browser for all test files of a process; it ends with the process. */
let browser: Promise<Browser> | undefined

function sharedBrowser(): Promise<Browser> {
  browser ??= chromium.launch({
    executablePath: chromiumPath(),
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      // All pages of a context share one process, which has compiled most of their code.
      '--disable-site-isolation-trials',
      '--renderer-process-limit=1',
    ],
  })
  return browser
}

/** A folder on disk for all tests of a file. */
export function useFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-web-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  return folder
}

async function openSite(options: SiteOptions): Promise<Site> {
  const { withAllAssets = false, withLog = false, variables, landing = 'later' } = options
  if (!(await ensurePages(console.error))) throw new Error('the pages cannot be built')
  await using opened = new AsyncDisposableStack()
  const chain = await startPrimaryChain({ port: 0, landing })
  opened.defer(() => chain.stop())
  const others = withAllAssets ? await startOthers(opened) : { evmUrl: '', variables: {} }
  const port = await freePort()
  const url = `http://localhost:${port}`
  const gateway = await startTestGateway({
    PORT: String(port),
    BASE_URL: url,
    PAGES_DIR: '', // those of the build
    PRIMARY_RPC_URLS: chain.url,
    PRIMARY_TREASURY: TREASURY.address,
    PUBLICATION_KEY: Buffer.from(PUBLICATION.privateKeyBytes).toString('hex'),
    AGENT_URL: 'http://localhost:8403',
    ...others.variables,
    ...(withLog && (await startLog(opened))),
    ...(await variables?.()),
  })
  opened.defer(() => gateway.stop())
  const proxy = await startPrefixProxy(port)
  opened.defer(async () => void proxy.close())

  const seed = crypto.getRandomValues(new Uint8Array(32))
  const keypair = [...seed, ...ed25519Signer(seed).publicKey]
  const signer = signerFromSolanaKeypair(keypair)
  const { locker_id, receipt_id } = await seedLocker(gateway.context, { owner: signer.address })
  const locker = { locker_id, receipt_id }
  const client = createClient({ baseUrl: url, signer, onWarning: () => {} })
  await client.put(locker, 'hello.txt', new TextEncoder().encode('hello'))
  const { attestation, push_result } = await client.attest(locker)
  const bundle = await (await fetch(`${url}/v1/storage/evidence-bundle?receipt_id=${receipt_id}`)).text()

  const browser = await sharedBrowser()
  const running = opened.move()
  return {
    url,
    prefixedUrl: `http://localhost:${(proxy.address() as AddressInfo).port}/svc`,
    browser,
    gateway,
    keypair,
    locker,
    digest: attestation.envelope!.statement_digest,
    anchor: push_result.anchor!,
    bundle,
    chains: { primary: { url: chain.url }, evm: { url: others.evmUrl } },
    close: () => running.disposeAsync(),
  }
}

async function startOthers(opened: AsyncDisposableStack) {
  const evm = await startEvmChain({ port: 0 })
  opened.defer(() => evm.stop())
  const rates = await startRateServer()
  opened.defer(() => rates.stop())
  const variables = {
    EVM_RPC_URLS: evm.url,
    EVM_TREASURY: DEV_TREASURY.address,
    ORACLE_URL: rates.url,
    // Tests buy more in a minute than people do.
    RATE_LIMITS: 'address=30000/min',
  }
  return { evmUrl: evm.url, variables }
}

async function startLog(opened: AsyncDisposableStack) {
  const witness = await startTestWitness([`log ${formatKey(LOG_KEY)}`], { WITNESS_NAME: 'one.example' })
  opened.defer(() => witness.stop())
  const folder = mkdtempSync(join(tmpdir(), 'svc-log-page-'))
  opened.defer(async () => rmSync(folder, { recursive: true }))
  const policy = join(folder, 'policy')
  writeFileSync(policy, `witness one ${formatKey(witness.context.key)} ${witness.url}\nquorum one\n`)
  return { LOG_KEY: LOG_SEED.toString('hex'), LOG_ORIGIN: LOG_KEY.name, LOG_POLICY_FILE: policy }
}

/** A reverse proxy with `location /svc/`, which removes the prefix. */
async function startPrefixProxy(port: number): Promise<Server> {
  const server = createServer((incoming, outgoing) => {
    const { url = '', method, headers } = incoming
    if (!url.startsWith('/svc/')) return void outgoing.writeHead(404).end()
    const target = request({ port, path: url.slice('/svc'.length), method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode as number, answer.headers)
      answer.pipe(outgoing)
    })
    incoming.pipe(target)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}
