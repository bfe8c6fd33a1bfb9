import type { Setting, SettingsReader } from '@svc/service/program/config'

export interface MongodbSettings {
  /** Contains the credentials: a secret. */
  url: string
  database: string
  bucket: string
}

const EXAMPLE = 'mongodb://user:password@host/?database=svc&bucket=objects'
/** Unescaped `/`, `?`, `#`, `@` or `:` in user or password would make the rest ambiguous. */
const URL_FORM = /^mongodb(\+srv)?:\/\/([^/?#@:]+(:[^/?#@:]*)?@)?[^/?#@]+(\/[^/?#@:]*(\?[^#]*)?)?$/
const NAME_FORM = /^[A-Za-z0-9_-]{1,60}$/

export const MONGODB_SETTING: Setting = {
  group: 'providers',
  isSecret: true,
  help: `MongoDB or mongodb+srv: ${EXAMPLE}; database and the GridFS bucket may be left out`,
}

/** Null when the setting is empty. The other options of its URL are MongoDB's own. */
export function readMongodbSettings(settings: SettingsReader): MongodbSettings | null {
  const text = settings.text('MONGODB')
  if (text === '') return null
  // Not with URL: a list of hosts is not a valid URL.
  if (!URL_FORM.test(text)) {
    settings.problem(`MONGODB must be ${EXAMPLE} or mongodb+srv://…, with special characters percent-encoded`)
    return null
  }
  const [address = '', query = ''] = text.split('?')
  const options = query.split('&').filter((option) => option !== '')
  const ownOf = (word: string) => options.find((option) => option.startsWith(`${word}=`))?.slice(word.length + 1)
  const others = options.filter((option) => !/^(?:database|bucket)=/.test(option))
  return {
    url: others.length > 0 ? `${address}?${others.join('&')}` : address,
    database: readName(settings, 'database', ownOf('database') ?? 'svc'),
    bucket: readName(settings, 'bucket', ownOf('bucket') ?? 'objects'),
  }
}

function readName(settings: SettingsReader, word: string, name: string): string {
  if (!NAME_FORM.test(name)) settings.problem(`MONGODB: ${word} must be 1 to 60 letters, digits, _ or -, not "${name}"`)
  return name
}
