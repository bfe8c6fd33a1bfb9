// Settings of Arweave: the service that takes data items to the chain, and the gateways from which they are read.

import type { Setting, SettingsReader } from '@svc/service/program/config'
import { parseKeySeed } from '@svc/service/program/keys'
import { isSafeAddress, openProviderUrl, type ProviderUrl } from '../provider-url.ts'

export interface ArweaveSettings {
  /** The URL of a service with the API of Turbo, without a trailing slash. */
  uploadUrl: string
  /** `/` and the id of an item are appended to each; in the order of their use. */
  gateways: readonly string[]
  /** The service's name for the token that pays for the uploads of this key. */
  token: string
  /** The Ed25519 key that signs items, and whose credit pays for them; a secret. */
  seed: Uint8Array
}

// Under /raw a gateway returns the bytes unchanged: elsewhere it redirects to other hosts and follows manifests.
const DEFAULT_GATEWAYS = ['https://arweave.net/raw', 'https://permagate.io/raw']
const MAX_GATEWAYS = 8
const FORM = {
  setting: 'ARWEAVE',
  schemes: ['https:', 'http:'],
  example: 'https://upload.ardrive.io?key_file=/path/to/key&token=solana',
  words: ['key', 'token', 'gateway'],
}

export const ARWEAVE_SETTING: Setting = {
  group: 'providers',
  isSecret: true,
  help: `Arweave, through a service with the API of Turbo: ${FORM.example}; gateway= once for each address from which files are read`,
}

/** Null when the setting is empty. */
export function readArweaveSettings(settings: SettingsReader): ArweaveSettings | null {
  const given = openProviderUrl(settings, FORM)
  if (!given) return null
  return {
    uploadUrl: readUploadUrl(given),
    gateways: readGateways(given),
    token: readToken(given),
    seed: readSeed(given),
  }
}

function readUploadUrl({ url, problem }: ProviderUrl): string {
  const address = readAddress(url.href.split('?')[0] ?? '')
  if (!address) problem('service', ADDRESS)
  return address ?? ''
}

function readGateways({ options, problem }: ProviderUrl): readonly string[] {
  const words = options('gateway')
  if (words.length === 0) return DEFAULT_GATEWAYS
  const gateways = words.flatMap((word) => readAddress(word) ?? [])
  if (gateways.length !== words.length || new Set(gateways).size !== words.length || words.length > MAX_GATEWAYS)
    problem('gateway', `given at most ${MAX_GATEWAYS} times, with different addresses, each ${ADDRESS}`)
  return gateways
}

const ADDRESS = 'an https address without user, query or fragment; http only on this machine'

/** Parts of files are read without a hash to check them: they must be protected from changes in transit. */
function readAddress(text: string): string | null {
  const url = URL.parse(text)
  if (!url || text.includes('@') || url.search || url.hash || !isSafeAddress(url)) return null
  return url.href.replace(/\/+$/, '')
}

function readToken({ option, problem }: ProviderUrl): string {
  const token = option('token', 'solana')
  if (!/^[a-z0-9-]{1,40}$/.test(token)) problem('token', `the name of a token, not "${token}"`)
  return token
}

function readSeed({ secret, problem }: ProviderUrl): Uint8Array {
  const seed = parseKeySeed(secret('key') ?? '')
  if (!seed)
    problem('key', "64 hex characters or a wallet's keypair, or key_file, the name of a file that contains one")
  return seed ?? new Uint8Array()
}
