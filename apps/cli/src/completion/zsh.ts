import { optionValues, type Values, type Words } from './words.ts'

export function zshScript(words: readonly Words[]): string {
  const [program] = words
  const globals = (program?.options ?? []).map(optionText)
  const cases = words.map(({ path, commands, options, values }) => {
    const named = commands.map(({ name, description }) => quoted(`${name}:${plain(description)}`))
    const flags = [...options.map(optionText), ...(path ? globals : [])]
    const own = values ? `; ${valuesText(values)}` : ''
    return `    ${path ? `'${path}'` : "''"}) commands=(${named.join(' ')}); options=(${flags.join(' ')})${own} ;;`
  })
  const optionCases = optionValues(words).map(([forms, of]) => `    ${forms.join('|')}) ${valuesText(of)} ;;`)
  return `#compdef svc
# svc completion zsh > "\${fpath[1]}/_svc"
_svc() {
  local candidate='' word dynamic=''
  local -a commands options values
  case "\${words[CURRENT-1]}" in
${optionCases.join('\n')}
  esac
  [[ -n $dynamic ]] && values=(\${(f)"$("\${words[1]}" complete $dynamic 2>/dev/null)"})
  if ((\${#values})); then compadd -a values; return; fi
  for word in \${words[2,CURRENT-1]}; do
    case "\${candidate:+$candidate }$word" in
${words
  .filter(({ path }) => path)
  .map(({ path }) => `      '${path}') candidate='${path}' ;;`)
  .join('\n')}
    esac
  done
  case "$candidate" in
${cases.join('\n')}
  esac
  if [[ \${words[CURRENT]} == -* ]]; then _describe -o 'option' options; return; fi
  [[ -n $dynamic ]] && values=(\${(f)"$("\${words[1]}" complete $dynamic 2>/dev/null)"})
  ((\${#values})) && compadd -a values
  if ((\${#commands})); then _describe 'command' commands
  elif ! ((\${#values})); then _files
  fi
}
_svc "$@"
`
}

function optionText({ flag, description }: Words['options'][number]): string {
  return quoted(`${flag}:${plain(description)}`)
}

function valuesText(values: Values): string {
  return 'dynamic' in values ? `dynamic='${values.dynamic}'` : `values=(${values.fixed.join(' ')})`
}

function plain(text: string): string {
  return text.replaceAll(':', '\\:')
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
