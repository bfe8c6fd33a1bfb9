// Settings of Arweave: the service that takes data items to the chain, and the gateways at which they are read.

import { readSecret, type SettingsReader } from '@svc/service/program/config'
import { parseKeySeed } from '@svc/service/program/keys'

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
const DEFAULTS = {
  ARWEAVE_UPLOAD_URL: 'https://upload.ardrive.io',
  ARWEAVE_GATEWAYS: 'https://arweave.net/raw,https://permagate.io/raw',
  ARWEAVE_TOKEN: 'solana',
  ARWEAVE_KEY: '',
  ARWEAVE_KEY_FILE: '',
}

const MAX_GATEWAYS = 8
const NO_KEY = new Uint8Array()

/** Null when nothing is set, or everything is as in `.env.example`. */
export function readArweaveSettings(settings: SettingsReader): ArweaveSettings | null {
  const isUnset = Object.entries(DEFAULTS).every(([name, value]) => settings.text(name, value) === value)
  if (isUnset) return null
  return {
    uploadUrl: readUploadUrl(settings),
    gateways: readGateways(settings),
    token: readToken(settings),
    seed: readSeed(settings),
  }
}

function readUploadUrl(settings: SettingsReader): string {
  const url = readAddress(settings.text('ARWEAVE_UPLOAD_URL', DEFAULTS.ARWEAVE_UPLOAD_URL))
  if (!url) settings.problem(`ARWEAVE_UPLOAD_URL must be ${ADDRESS}`)
  return url ?? ''
}

function readGateways(settings: SettingsReader): string[] {
  const words = settings.list('ARWEAVE_GATEWAYS', DEFAULTS.ARWEAVE_GATEWAYS)
  const gateways = words.flatMap((word) => readAddress(word) ?? [])
  if (gateways.length !== words.length || new Set(gateways).size !== words.length || words.length > MAX_GATEWAYS) {
    settings.problem(`ARWEAVE_GATEWAYS must be up to ${MAX_GATEWAYS} addresses with commas between, each ${ADDRESS}`)
  }
  return gateways
}

const ADDRESS = 'an https address without user, query or fragment; http only on this machine'

/** Parts of files are read without a hash to check them by: they must be safe from changes on the way. */
function readAddress(text: string): string | null {
  const url = URL.parse(text)
  if (!url || url.username || url.password || url.search || url.hash) return null
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname)
  const isSafe = url.protocol === 'https:' || (url.protocol === 'http:' && isLocal)
  return isSafe ? url.href.replace(/\/+$/, '') : null
}

function readToken(settings: SettingsReader): string {
  const token = settings.text('ARWEAVE_TOKEN', DEFAULTS.ARWEAVE_TOKEN)
  if (!/^[a-z0-9-]{1,40}$/.test(token)) settings.problem(`ARWEAVE_TOKEN must be the name of a token, not "${token}"`)
  return token
}

/** Problems never show it. */
function readSeed(settings: SettingsReader): Uint8Array {
  const given = readSecret(settings, 'ARWEAVE_KEY')
  if (given?.text === null) return NO_KEY
  const seed = parseKeySeed(given?.text ?? '')
  if (!seed) settings.problem("ARWEAVE_KEY must be 64 hex characters or a wallet's keypair, or be in a file")
  return seed ?? NO_KEY
}
