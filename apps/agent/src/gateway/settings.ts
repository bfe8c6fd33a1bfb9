import { ed25519PublicKeyFromHex } from '@svc/protocol/keys'
import type { Mode, SettingsReader } from '@svc/service/program/config'

/** The gateway whose lockers the agent works on. */
export interface GatewaySettings {
  url: string
  pinnedKeys: string[]
}

export function readGatewaySettings(settings: SettingsReader, mode: Mode): GatewaySettings {
  return { url: readUrl(settings, mode), pinnedKeys: readPinnedKeys(settings) }
}

function readUrl(settings: SettingsReader, mode: Mode): string {
  if (mode === 'production' && settings.text('GATEWAY_URL') === '') {
    settings.problem('GATEWAY_URL must be the address of the gateway whose lockers the agent serves')
  }
  const url = settings.url('GATEWAY_URL', 'http://localhost:8402')
  // The discovery document publishes this URL.
  if (URL.parse(url)?.username) settings.problem('GATEWAY_URL must not contain a user name or password')
  return url
}

function readPinnedKeys(settings: SettingsReader): string[] {
  const keys = settings.list('GATEWAY_KEYS')
  if (keys.some((key) => !ed25519PublicKeyFromHex(key.toLowerCase())))
    settings.problem('GATEWAY_KEYS must be public keys of 64 hex characters each, separated by commas')
  return keys
}
