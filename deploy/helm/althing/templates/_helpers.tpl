{{- define "althing.selector" -}}
app.kubernetes.io/name: althing
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "althing.labels" -}}
{{ include "althing.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "althing.node" -}}
{{ include "althing.selector" . }}
app.kubernetes.io/component: node
{{- end }}

{{- define "althing.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "althing.secret" -}}
{{ .Values.auth.existingSecret | default .Release.Name }}
{{- end }}

{{- define "althing.tlsSecret" -}}
{{ .Values.tls.secretName | default (printf "%s-tls" .Release.Name) }}
{{- end }}

{{- define "althing.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "althing.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}
