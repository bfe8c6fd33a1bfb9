// Settings of auth: identity providers, shared secrets, and rate limits.

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

/** Who may act by hand. */
export interface ActorConfig {
  /** Compared with e-mail addresses that the provider has verified. */
  emails: string[]
  subjects: string[]
  /** Whoever holds the shared secret. */
  secret: boolean
  /** Everybody, in development. */
  anybody: boolean
}

/** Requests per minute; 0 means no limit. */
export interface LimitConfig {
  perAddress: number
  perReceipt: number
  perSigner: number
}

export interface AuthSecrets {
  /** Shared with the scheduler and the operator's tools. */
  internalSecret: string | null
  /** Shared with oracles, which may have statements computed. */
  oracleSecret: string | null
}

/** All variables are set or none. The issuer is compared exactly, so it is not normalized as a URL. */
export function readTokens(settings: SettingsReader, name: string, mode: Mode): TokenConfig | null {
  const names = [`${name}_ISSUER`, `${name}_AUDIENCE`, `${name}_JWKS_URL`]
  const [issuer = '', audience = '', jwksUrl = ''] = names.map((variable) => settings.text(variable))
  const given = [issuer, audience, jwksUrl].filter(Boolean).length
  if (given === 0) return null
  if (given < names.length) settings.problem(`${names.join(', ')} belong together: set all or none`)
  const { protocol } = URL.parse(jwksUrl) ?? {}
  if (protocol !== 'https:' && !(protocol === 'http:' && mode === 'development')) {
    settings.problem(`${name}_JWKS_URL must be an https address`)
  }
  return { issuer, audience, jwksUrl }
}

/** `_SERVICES` is the older, mixed list: an entry with an @ is an e-mail address, any other is a subject. */
export function readOidc(settings: SettingsReader, name: string, mode: Mode): OidcConfig | null {
  const tokens = readTokens(settings, name, mode)
  const mixed = settings.list(`${name}_SERVICES`)
  const emails = [...settings.list(`${name}_EMAILS`), ...mixed.filter(isAddress)]
  const subjects = [...settings.list(`${name}_SUBJECTS`), ...mixed.filter((entry) => !isAddress(entry))]
  if (!settings.list(`${name}_EMAILS`).every(isAddress)) settings.problem(`${name}_EMAILS must be e-mail addresses`)
  if ((tokens !== null) !== emails.length + subjects.length > 0) {
    settings.problem(
      `${name}_ISSUER and who may call belong together: set ${name}_EMAILS, ${name}_SUBJECTS or both with it`,
    )
  }
  return tokens && { ...tokens, emails, subjects }
}

const isAddress = (entry: string) => entry.includes('@')

const PER_MINUTE = { min: 0, max: 30_000 }

export function readLimits(settings: SettingsReader): LimitConfig {
  return {
    perAddress: settings.integer('RATE_LIMIT_ADDRESS', 300, PER_MINUTE),
    perReceipt: settings.integer('RATE_LIMIT_RECEIPT', 120, PER_MINUTE),
    perSigner: settings.integer('RATE_LIMIT_SIGNER', 600, PER_MINUTE),
  }
}

/** `secret` is the shared secret; an entry with an @ is an e-mail address, any other a subject. */
export function readActors(settings: SettingsReader, mode: Mode): ActorConfig {
  const entries = settings.list('OPERATOR_ACTORS')
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
  const secret = settings.text(name)
  if (!secret) return null
  const isWeak = mode === 'production' && secret.length < MIN_SECRET_CHARACTERS
  if (isWeak || !/^[\x21-\x7e]+$/.test(secret)) {
    settings.problem(`${name} must be at least ${MIN_SECRET_CHARACTERS} visible ASCII characters`)
  }
  return secret
}
