import type { Values, Words } from './words.ts'

export function fishScript(words: readonly Words[]): string {
  const lines = words.flatMap(({ path, commands, options, values }) => {
    const condition = path ? `__svc_at ${path}` : commands.length > 0 ? '__svc_at' : ''
    return [
      ...commands.map(({ name, description }) => line(condition, `-f -a ${name}`, description)),
      ...(values ? [line(condition, `-f -a ${valuesText(values)}`, '')] : []),
      ...options.map(({ flag, short, description, takesValue, values: ofOption }) => {
        const forms = `-l ${flag.replace(/^--/, '')}${short === null ? '' : ` -s ${short.slice(1)}`}`
        const value = ofOption ? ` -x -a ${valuesText(ofOption)}` : takesValue ? ' -r' : ''
        return line(path ? condition : '', forms + value, description)
      }),
    ]
  })
  return `# svc completion fish > ~/.config/fish/completions/svc.fish
function __svc_at --description 'whether these commands were typed, and no other'
  set -l typed (commandline -opc | string match -v -- '-*')[2..]
  if test (count $argv) -eq 0
    test (count $typed) -eq 0
    return
  end
  test (count $typed) -ge (count $argv); and test "$typed[1..$(count $argv)]" = "$argv"
end
${lines.join('\n')}
`
}

function line(condition: string, what: string, description: string): string {
  const when = condition ? `-n ${quoted(condition)} ` : ''
  return `complete -c svc ${when}${what}${description ? ` -d ${quoted(description)}` : ''}`
}

function valuesText(values: Values): string {
  return 'dynamic' in values ? `'(svc complete ${values.dynamic} 2>/dev/null)'` : quoted(values.fixed.join(' '))
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
