// Settings of authentication: identity providers and shared secrets.

import type { Mode, SettingsReader } from '@svc/service/program/config'

/** Tokens of one identity provider. */
export interface TokenConfig {
  issuer: string
  audience: string
  jwksUrl: string
}

/** Tokens of the named services only. */
export interface OidcConfig extends TokenConfig {
  /** Compared with e-mail addresses that the provider has verified. */
  emails: string[]
  subjects: string[]
}

/** Who may perform manual actions. */
export interface ActorConfig {
  /** Compared with e-mail addresses that the provider has verified. */
  emails: string[]
  subjects: string[]
  /** A caller who has the shared secret. */
  secret: boolean
  /** Every caller, in development. */
  anybody: boolean
}

export interface AuthSecrets {
  /** Shared with the scheduler and the admin's tools. */
  internalSecret: string | null
  /** Shared with oracles, which may have statements computed. */
  oracleSecret: string | null
}

const TOKEN_KEYS = ['issuer', 'audience', 'jwks'] as const
const OIDC_KEYS = [...TOKEN_KEYS, 'email', 'subject'] as const

/** The issuer is compared exactly, so it is not normalized as a URL. */
export function readTokens(settings: SettingsReader, name: string, mode: Mode): TokenConfig | null {
  return settings.text(name) === '' ? null : tokensOf(settings, name, settings.pairs(name, TOKEN_KEYS), mode)
}

export function readOidc(settings: SettingsReader, name: string, mode: Mode): OidcConfig | null {
  if (settings.text(name) === '') return null
  const pairs = settings.pairs(name, OIDC_KEYS)
  const { email: emails = [], subject: subjects = [] } = Object.fromEntries(pairs)
  if (!emails.every((entry) => entry.includes('@'))) settings.problem(`${name}: email must be an e-mail address`)
  if (emails.length + subjects.length === 0)
    settings.problem(`${name} must list the allowed callers: email=… or subject=…, once for each`)
  return { ...tokensOf(settings, name, pairs, mode), emails, subjects }
}

function tokensOf(
  settings: SettingsReader,
  name: string,
  pairs: ReadonlyMap<(typeof OIDC_KEYS)[number], string[]>,
  mode: Mode,
): TokenConfig {
  const [issuer = '', audience = '', jwksUrl = ''] = TOKEN_KEYS.map((key) => pairs.get(key)?.join(','))
  if (!issuer || !audience || !jwksUrl) settings.problem(`${name} must have issuer=…, audience=… and jwks=…`)
  const { protocol } = URL.parse(jwksUrl) ?? {}
  if (protocol !== 'https:' && !(protocol === 'http:' && mode === 'development'))
    settings.problem(`${name}: jwks must be an https address`)
  return { issuer, audience, jwksUrl }
}

/** `secret` is the shared secret; an entry with an @ is an e-mail address, any other entry is a subject. */
export function readActors(settings: SettingsReader, mode: Mode): ActorConfig {
  const entries = settings.list('ADMINS')
  const named = entries.filter((entry) => entry !== 'secret')
  return {
    emails: named.filter((entry) => entry.includes('@')),
    subjects: named.filter((entry) => !entry.includes('@')),
    secret: entries.includes('secret'),
    anybody: mode === 'development' && entries.length === 0,
  }
}

export function readAuthSecrets(settings: SettingsReader, mode: Mode): AuthSecrets {
  return {
    internalSecret: sharedSecret(settings, mode, 'INTERNAL_SECRET'),
    oracleSecret: sharedSecret(settings, mode, 'ORACLE_CALLBACK_SECRET'),
  }
}

const MIN_SECRET_CHARACTERS = 24

function sharedSecret(settings: SettingsReader, mode: Mode, name: string): string | null {
  const secret = settings.secret(name)?.text
  if (!secret) return null
  const isWeak = mode === 'production' && secret.length < MIN_SECRET_CHARACTERS
  if (isWeak || !/^[\x21-\x7e]+$/.test(secret)) {
    settings.problem(`${name} must be at least ${MIN_SECRET_CHARACTERS} visible ASCII characters`)
  }
  return secret
}
