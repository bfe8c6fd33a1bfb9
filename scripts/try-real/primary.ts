// The primary chain: a payment that our reader accepts, and a statement that is published and then found by the
// verifier. PUBLICATION_KEY pays. `sas` also writes an account of the attestation registry, and closes it.

import { randomBytes } from 'node:crypto'
import { PRIMARY } from '@svc/api/networks'
import { memoInstruction } from '@svc/gateway/publication/memo'
import { openPrimaryChain, type PreparedPublication, type PrimaryChain } from '@svc/gateway/publication/primary-chain'
import { closeAttestation, SYSTEM_PROGRAM } from '@svc/gateway/publication/registry/instructions'
import { setUpRegistry } from '@svc/gateway/publication/registry/set-up'
import { type AnchorConfig, readAnchorConfig } from '@svc/gateway/publication/settings'
import { connectJsonRpc } from '@svc/payments/nodes/json-rpc'
import { readSalesConfig } from '@svc/payments/selling/settings'
import { watchTransaction } from '@svc/payments/solana/outcome'
import type { SignedTransaction } from '@svc/payments/solana/sign-transaction'
import { concat, utf8 } from '@svc/protocol/bytes'
import { issueStatement } from '@svc/protocol/evidence'
import { type Ed25519Signer, ed25519Signer } from '@svc/protocol/keys'
import { i64, u32 } from '@svc/protocol/little-endian'
import { registryAddresses } from '@svc/protocol/registry'
import type { SettingsReader } from '@svc/service/program/config'
import { readOptionalKey } from '@svc/service/program/keys'
import { checkOnline } from '@svc/verifier/online-facts'
import type { Rpc } from '@svc/verifier/rpc'
import { type Access, land, newQuote, requireNodes, requirePaid, WAIT_MS } from './chains.ts'
import { requireThat, type Trial } from './trial.ts'

type Passed = (sentence: string) => void
type Instruction = Parameters<PrimaryChain['prepare']>[0][number]

/** Nothing is sent if it may cost more, whatever the settings say. */
const MOST_LAMPORTS = 20_000_000
const LAMPORTS_PER_SOL = 1_000_000_000
/** The least that an account holds: a payment to a new one is at least this. */
const RENT_EXEMPT = 890_880
/** Rent of credential and schema, which stay, and of one attestation, which returns it when it is closed. */
const SET_UP_RENT = 7_000_000
const ATTESTATION_RENT = 3_300_000

interface Wallet {
  key: Ed25519Signer
  chain: PrimaryChain
  access: Access
  anchors: AnchorConfig
  treasury: string
  domainTag: string
}

export const tryMemo: Trial = (settings) => plan(openWallet(settings, 'memo'))
export const tryRegistry: Trial = (settings) => plan(openWallet(settings, 'registry'))

function openWallet(settings: SettingsReader, kind: AnchorConfig['kind']): Wallet {
  const isProduction = settings.oneOf('SVC_MODE', ['production', 'development']) === 'production'
  const [{ chains }, secrets] = readSalesConfig(settings, isProduction)
  const anchors = { ...readAnchorConfig(settings, true), kind, isOn: true }
  const seed = readOptionalKey(settings, 'PUBLICATION_KEY', isProduction)
  const domainTag = settings.text('ENVELOPE_DOMAIN_TAG')
  settings.done()
  const config = chains.get(PRIMARY)
  requireThat(
    config !== undefined && seed !== null,
    'PRIMARY_RPC_URLS, PRIMARY_TREASURY and PUBLICATION_KEY must be set',
  )
  const { treasury, quorum, finality } = config
  const access = { rpcUrls: secrets.rpcUrls.get(PRIMARY) ?? [], quorum, finality }
  const key = ed25519Signer(seed)
  const chain = openPrimaryChain(anchors, key, access) as PrimaryChain // it is on
  requireThat(chain.signer !== treasury, 'PUBLICATION_KEY is the key of PRIMARY_TREASURY: it would pay itself')
  return { key, chain, access, anchors, treasury, domainTag }
}

async function plan(wallet: Wallet): ReturnType<Trial> {
  const { key, chain, access, anchors, treasury } = wallet
  const { nodes, signer, maxFee } = chain
  await requireNodes(PRIMARY, access)
  const [height, balance, held] = await Promise.all([nodes.height(), nodes.balance(signer), nodes.balance(treasury)])
  const hasRegistry = anchors.kind === 'registry'
  const amount = held >= RENT_EXEMPT ? 1 : RENT_EXEMPT
  // Payment and statement; for the registry also its set-up and the end of the attestation.
  const most = amount + maxFee * (hasRegistry ? 4 : 2) + (hasRegistry ? SET_UP_RENT + ATTESTATION_RENT : 0)
  requireThat(most <= MOST_LAMPORTS, `it may cost ${most} lamports, above ${MOST_LAMPORTS}: lower ANCHORS priority=`)
  return {
    about: [
      `${PRIMARY.title} at block ${height}: every node of PRIMARY_RPC_URLS shows genesis hash ${PRIMARY.genesisHash}`,
      `${signer} (PUBLICATION_KEY) has ${balance} lamports, ${treasury} (PRIMARY_TREASURY) has ${held}`,
      `It pays ${amount} lamport(s) to the treasury and publishes a statement${hasRegistry ? ' in the registry' : ''}.`,
    ],
    costs: `at most ${most} lamports (${most / LAMPORTS_PER_SOL} SOL)${hasRegistry ? ', less once credential and schema exist' : ''}`,
    async run(passed) {
      requireThat(balance >= BigInt(most), `${signer} has ${balance} lamports, and needs ${most}`)
      if (hasRegistry) {
        const { credential, schema } = await setUpRegistry(key, anchors.registry.credentialName, access.rpcUrls)
        passed(`the registry has the credential ${credential} and the schema ${schema}`)
      }
      await pay(wallet, amount, passed)
      await publish(wallet, passed)
      const spent = balance - (await nodes.balance(signer))
      requireThat(spent <= BigInt(most), `it cost ${spent} lamports, more than announced`)
      passed(`it cost ${spent} lamports`)
    },
  }
}

async function pay({ chain, anchors, access, treasury }: Wallet, amount: number, passed: Passed): Promise<void> {
  const { signer } = chain
  const quote = newQuote()
  const memo = memoInstruction(utf8(quote.reference), anchors.memoProgram, signer)
  const { tx } = await landInstructions(chain, [transferOf(signer, treasury, amount), memo])
  await requirePaid(PRIMARY, access, { ...quote, tx, payTo: treasury, payer: signer, amount: BigInt(amount) })
  passed(`the payment of ${amount} lamport(s) arrived at ${treasury}, and pays its quote`)
}

async function publish({ chain, anchors, access, domainTag }: Wallet, passed: Passed): Promise<void> {
  const { nodes, signer } = chain
  const envelope = newStatement(domainTag)
  const at = envelope.body.issued_at_unix
  const { draft, tx } = await land<PreparedPublication['publication']>(PRIMARY, {
    sign: async () => (await chain.prepareStatement({ receipt_id: 'try-real', sequence: 1 }, envelope, at)).publication,
    send: ({ raw }) => nodes.send(raw),
    watch: (signed) => watchTransaction(nodes, signed, WAIT_MS),
  })
  const { slot } = await nodes.costs(tx)
  const anchor = { ...JSON.parse(draft), slot }
  const ask = connectJsonRpc(access.rpcUrls[0] ?? '')
  const rpc: Rpc = (method, params) => ask(method, [...params], AbortSignal.timeout(WAIT_MS))
  const { facts } = await checkOnline(rpc, { anchor, version: 2, envelope, pinnedSigners: [signer] })
  for (const [name, fact] of Object.entries(facts)) {
    const mayBeOpen = name === 'anchor_finalized' || (name === 'registry_matches' && anchors.kind === 'memo')
    const holds = fact.value === 'passed' || (mayBeOpen && fact.value === 'not_checked')
    requireThat(holds, `${name} of ${tx}: ${JSON.stringify(fact)}`)
  }
  passed(`a statement is published in slot ${slot}, and the verifier finds it`)
  if (!anchor.sas) return
  const { attestation } = anchor.sas
  const parties = { ...registryAddresses(signer, anchors.registry.credentialName), signer }
  await landInstructions(chain, [closeAttestation(parties, attestation)])
  requireThat((await nodes.account(attestation)) === null, `the account ${attestation} is not closed`)
  passed(`the verifier finds it in the registry, too; its account ${attestation} is closed and returned its rent`)
}

const TRANSFER = 2
const [WRITABLE, WRITABLE_SIGNER] = [1, 3]

function transferOf(from: string, to: string, lamports: number): Instruction {
  return {
    programAddress: SYSTEM_PROGRAM,
    accounts: [
      { address: from, role: WRITABLE_SIGNER },
      { address: to, role: WRITABLE },
    ],
    data: concat(u32(TRANSFER), i64(lamports)),
  } as unknown as Instruction // the settings check the addresses, which the library's types brand
}

function landInstructions(chain: PrimaryChain, instructions: readonly Instruction[]): Promise<SignedTransaction> {
  return land<SignedTransaction>(PRIMARY, {
    sign: () => chain.prepare(instructions),
    send: ({ raw }) => chain.nodes.send(raw),
    watch: (signed) => watchTransaction(chain.nodes, signed, WAIT_MS),
  })
}

/** About no locker, and signed by a key that is forgotten. */
function newStatement(domainTag: string) {
  const random = (bytes: number) => randomBytes(bytes).toString('hex')
  const statement = {
    proofId: random(16),
    sequence: 1,
    previousDigest: null,
    merkleRoot: random(32),
    fileCount: 1,
    manifestFileCount: 1,
    totalBytes: 1n,
    manifestDigest: random(32),
    checkMode: 'recorded_hashes',
    issuedAtUnix: Math.floor(Date.now() / 1000),
    nonce: random(16),
  } as const
  return issueStatement(statement, ed25519Signer(randomBytes(32)), domainTag)
}
