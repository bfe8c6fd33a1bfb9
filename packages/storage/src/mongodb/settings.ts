import { readSecret, type SettingsReader } from '@svc/service/program/config'

export interface MongodbSettings {
  /** Contains the credentials: a secret. */
  url: string
  database: string
  bucket: string
}

const DEFAULT_DATABASE = 'svc'
const DEFAULT_BUCKET = 'objects'
/** Unescaped `/`, `?`, `#`, `@` or `:` in user or password would make the rest ambiguous. */
const URL_FORM = /^mongodb(\+srv)?:\/\/([^/?#@:]+(:[^/?#@:]*)?@)?[^/?#@]+(\/[^/?#@:]*(\?[^#]*)?)?$/
const NAME_FORM = /^[A-Za-z0-9_-]{1,60}$/

/** Null when nothing is set. */
export function readMongodbSettings(settings: SettingsReader): MongodbSettings | null {
  const url = readUrl(settings)
  const database = readName(settings, 'MONGODB_DATABASE', DEFAULT_DATABASE)
  const bucket = readName(settings, 'MONGODB_BUCKET', DEFAULT_BUCKET)
  if (url !== null) return { url, database, bucket }
  if (database !== DEFAULT_DATABASE || bucket !== DEFAULT_BUCKET) {
    settings.problem('MONGODB_DATABASE and MONGODB_BUCKET need MONGODB_URL or MONGODB_URL_FILE: set one of them')
  }
  return null
}

/** Problems never show it: it contains a password. */
function readUrl(settings: SettingsReader): string | null {
  const given = readSecret(settings, 'MONGODB_URL')
  if (!given) return null
  const { text, variable } = given
  if (text !== null && !URL_FORM.test(text)) {
    settings.problem(
      `${variable} must be mongodb://user:password@host/ or mongodb+srv://…, ` +
        'with special characters of user and password percent-encoded',
    )
  }
  return text ?? ''
}

function readName(settings: SettingsReader, variable: string, fallback: string): string {
  const name = settings.text(variable, fallback)
  if (!NAME_FORM.test(name)) settings.problem(`${variable} must be 1 to 60 letters, digits, _ or -, not "${name}"`)
  return name
}
