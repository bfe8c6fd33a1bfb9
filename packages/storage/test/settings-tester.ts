// Reads the settings of one provider, and returns the problems with them.

import { SettingsReader, type Variables } from '@svc/http-service/config'

export function settingsTester<Settings>(readSettings: (settings: SettingsReader) => Settings) {
  function read(variables: Variables): Settings {
    const settings = new SettingsReader(variables)
    const read = readSettings(settings)
    settings.done()
    return read
  }

  /** Empty when there are none. */
  function problemsOf(variables: Variables): string {
    try {
      read(variables)
    } catch (error) {
      return (error as Error).message
    }
    return ''
  }

  return { read, problemsOf }
}
