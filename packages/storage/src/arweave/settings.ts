// Settings of Arweave: the service that takes data items to the chain, and the gateways at which they are read.

import type { Setting, SettingsReader } from '@svc/service/program/config'
import { parseKeySeed } from '@svc/service/program/keys'
import { isSafeAddress, openProviderUrl, type ProviderUrl } from '../provider-url.ts'

export interface ArweaveSettings {
  /** Of a service with the API of Turbo, without a trailing slash. */
  uploadUrl: string
  /** `/` and the id of an item follow each; in the order in which they are asked. */
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
  help: `Arweave, by a service that speaks as Turbo does: ${FORM.example}; gateway= once for each address that files are read at`,
}

/** Null when it is not set. */
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

/** Parts of files are read without a hash to check them by: they must be safe from changes on the way. */
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
  if (!seed) problem('key', "64 hex characters or a wallet's keypair, or key_file a file that holds one")
  return seed ?? new Uint8Array()
}
