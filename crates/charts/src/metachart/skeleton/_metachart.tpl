{{- /*
Helpers for Helm. Each is called with the root context and a dictionary `params`, and prints JSON unless it says
otherwise; the caller reads the JSON back. Purlin has all of this built in.
*/ -}}

{{- /* The release's name, or what the values put in its place. Prints text. */ -}}
{{- define "metachart.fullname" -}}
{{- default $.Release.Name $.Values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- /* The chart's name and version as a label value. Prints text. */ -}}
{{- define "metachart.chart" -}}
{{- printf "%s-%s" $.Chart.Name $.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- /* Labels that every resource has. */ -}}
{{- define "metachart.chartLabels" -}}
{{- $labels := dict "helm.sh/chart" (include "metachart.chart" $) "app.kubernetes.io/instance" $.Release.Name "app.kubernetes.io/managed-by" $.Release.Service -}}
{{- with $.Chart.AppVersion -}}{{- $_ := set $labels "app.kubernetes.io/version" . -}}{{- end -}}
{{- toJson $labels -}}
{{- end -}}

{{- /* Labels that select a component. params: component */ -}}
{{- define "metachart.selectorLabels" -}}
{{- $labels := dict "app.kubernetes.io/instance" $.Release.Name -}}
{{- with $.params.component -}}{{- $_ := set $labels "app.kubernetes.io/component" . -}}{{- end -}}
{{- toJson $labels -}}
{{- end -}}

{{- /* Labels of a resource: global ones, then the kind's defaults, then its own. params: definition, defaults, component, relatedComponent */ -}}
{{- define "metachart.resourceLabels" -}}
{{- $fixed := include "metachart.chartLabels" $ | fromJson -}}
{{- with coalesce $.params.relatedComponent $.params.component -}}{{- $_ := set $fixed "app.kubernetes.io/component" . -}}{{- end -}}
{{- $labels := dict -}}
{{- $global := dig "settings" "global" "labels" dict $.Values.AsMap -}}
{{- $default := dig "metadata" "labels" dict (default dict $.params.defaults) -}}
{{- $own := dig "metadata" "labels" dict (default dict $.params.definition) -}}
{{- range $given := list $global $default $own -}}
  {{- range $key, $value := $given -}}
    {{- if hasKey $fixed $key -}}{{- fail (printf "label `%s` is reserved: the chart sets it itself; use another key" $key) -}}{{- end -}}
    {{- if not (kindIs "invalid" $value) -}}{{- $_ := set $labels $key $value -}}{{- end -}}
  {{- end -}}
{{- end -}}
{{- toJson (mergeOverwrite $fixed $labels) -}}
{{- end -}}

{{- /* Annotations of a resource: global ones, then the kind's defaults, then its own, then checksums. params: definition, defaults */ -}}
{{- define "metachart.resourceAnnotations" -}}
{{- $annotations := dict -}}
{{- $definition := default dict $.params.definition -}}
{{- $defaults := default dict $.params.defaults -}}
{{- $plain := omit $ "params" -}}
{{- $global := dig "settings" "global" "annotations" dict $.Values.AsMap -}}
{{- range $given := list $global (dig "metadata" "annotations" dict $defaults) (dig "metadata" "annotations" dict $definition) -}}
  {{- range $key, $value := $given -}}
    {{- if not (kindIs "invalid" $value) -}}{{- $_ := set $annotations $key $value -}}{{- end -}}
  {{- end -}}
{{- end -}}
{{- $checksums := dict "source" (dig "metadata" "checksums" dict $defaults) "target" (dig "metadata" "checksums" dict $definition) -}}
{{- $kinds := include "metachart.settings" $plain | fromYaml -}}
{{- range $kind, $names := include "metachart.mergeConcatLists" (dict "params" $checksums) | fromJson -}}
  {{- if not (hasKey $kinds $kind) -}}{{- fail (printf "unknown kind `%s` in `checksums`" $kind) -}}{{- end -}}
  {{- if kindIs "slice" $names -}}
    {{- range $name := $names -}}
      {{- $text := include "metachart.renderSingle" (merge (dict "params" (dict "kind" $kind "name" $name)) $plain) -}}
      {{- $_ := set $annotations (printf "checksum-%s-%s" $kind $name) (sha256sum $text) -}}
    {{- end -}}
  {{- else if eq (toString $names) "*" -}}
    {{- $text := include "metachart.renderKinds" (merge (dict "params" (dict "kinds" (list $kind))) $plain) -}}
    {{- $_ := set $annotations (printf "checksum-%s" $kind) (sha256sum $text) -}}
  {{- else if not (kindIs "invalid" $names) -}}
    {{- fail (printf "`checksums.%s`: expected a list of names, or \"*\" for all" $kind) -}}
  {{- end -}}
{{- end -}}
{{- toJson $annotations -}}
{{- end -}}

{{- /* Metadata of a resource. params: definition, defaults, name, key, nameSuffix, withName, withNameFullnamePrefix, component, relatedComponent. `name` is a built name, which is used as it is, or a short one; `key` is always a short one */ -}}
{{- define "metachart.resourceMeta" -}}
{{- $given := dig "metadata" dict (default dict $.params.definition) -}}
{{- $meta := omit $given "labels" "annotations" "name" "checksums" -}}
{{- if dig "withName" true $.params -}}
  {{- $prefix := include "metachart.fullname" $ -}}
  {{- $own := default $.params.name $.params.key -}}
  {{- $name := list $own $.params.nameSuffix | compact | join "-" -}}
  {{- $isBuilt := and (not $.params.key) (hasPrefix (printf "%s-" $prefix) (default "" $own)) -}}
  {{- if and (dig "withNameFullnamePrefix" true $.params) (not $isBuilt) -}}
    {{- if $name -}}
      {{- $room := sub 62 (len $name) | max 0 | int -}}
      {{- $name = list ($prefix | trunc $room | trimSuffix "-") $name | compact | join "-" -}}
    {{- else -}}
      {{- $name = $prefix -}}
    {{- end -}}
  {{- end -}}
  {{- $_ := set $meta "name" (default ($name | trunc 63 | trimSuffix "-") $given.name) -}}
{{- end -}}
{{- $_ := set $meta "labels" (include "metachart.resourceLabels" $ | fromJson) -}}
{{- $_ := set $meta "annotations" (include "metachart.resourceAnnotations" $ | fromJson) -}}
{{- toJson $meta -}}
{{- end -}}

{{- /* Lays one value over another: dictionaries are merged, lists put one after the other, null hides no collection. params: source (below), target (above) */ -}}
{{- define "metachart.mergeConcatLists" -}}
{{- $result := deepCopy $.params.source -}}
{{- range $key, $value := $.params.target -}}
  {{- $below := get $result $key -}}
  {{- if and (kindIs "map" $below) (kindIs "map" $value) -}}
    {{- $value = include "metachart.mergeConcatLists" (dict "params" (dict "source" $below "target" $value)) | fromJson -}}
  {{- else if and (kindIs "slice" $below) (kindIs "slice" $value) (or $below $value) -}}
    {{- $value = concat $below $value -}}
  {{- else if and (kindIs "invalid" $value) (or (kindIs "map" $below) (kindIs "slice" $below)) -}}
    {{- $value = $below -}}
  {{- end -}}
  {{- $_ := set $result $key $value -}}
{{- end -}}
{{- toJson $result -}}
{{- end -}}

{{- /* A resource with its kind's defaults below it. params: definition, kind, without (keys of the defaults' metadata to leave out) */ -}}
{{- define "metachart.setDefaults" -}}
{{- $defaults := omit (dig "settings" $.params.kind "defaults" dict $.Values.AsMap) "enabled" "related" "relatedComponent" "apiVersion" "kind" -}}
{{- if hasKey $defaults "metadata" -}}
  {{- $metadata := omit (default dict $defaults.metadata) "name" -}}
  {{- range $key := default list $.params.without -}}{{- $metadata = omit $metadata $key -}}{{- end -}}
  {{- $defaults = set $defaults "metadata" $metadata -}}
{{- end -}}
{{- include "metachart.mergeConcatLists" (dict "params" (dict "source" $defaults "target" $.params.definition)) -}}
{{- end -}}

{{- /* Renders every text in a value once. params: data */ -}}
{{- define "metachart.deepRender" -}}
{{- $data := $.params.data -}}
{{- $plain := omit $ "params" -}}
{{- if kindIs "string" $data -}}
  {{- toJson (tpl $data $plain) -}}
{{- else if kindIs "map" $data -}}
  {{- $result := dict -}}
  {{- range $key, $value := $data -}}
    {{- $_ := set $result $key (include "metachart.deepRender" (merge (dict "params" (dict "data" $value)) $plain) | mustFromJson) -}}
  {{- end -}}
  {{- toJson $result -}}
{{- else if kindIs "slice" $data -}}
  {{- $result := list -}}
  {{- range $value := $data -}}
    {{- $result = append $result (include "metachart.deepRender" (merge (dict "params" (dict "data" $value)) $plain) | mustFromJson) -}}
  {{- end -}}
  {{- toJson $result -}}
{{- else -}}
  {{- toJson $data -}}
{{- end -}}
{{- end -}}

{{- /* All resources of a kind, standalone and related, as far as they are enabled. params: kind */ -}}
{{- define "metachart.discover" -}}
{{- $result := dict -}}
{{- $kind := $.params.kind -}}
{{- $settings := default dict $.Values.settings -}}
{{- if not (dig $kind "disabled" false $settings) -}}
  {{- $enabled := dig $kind "defaults" "enabled" true $settings -}}
  {{- range $name, $definition := default dict (get $.Values $kind) -}}
    {{- if dig "enabled" $enabled (default dict $definition) -}}{{- $_ := set $result $name (default dict $definition) -}}{{- end -}}
  {{- end -}}
  {{- range $parentKind := include "metachart.settings" $ | fromYaml | keys | sortAlpha -}}
    {{- if not (dig $parentKind "disabled" false $settings) -}}
      {{- $defaults := dig $parentKind "defaults" dict $settings -}}
      {{- range $parent, $parentDefinition := default dict (get $.Values $parentKind) -}}
        {{- $parentDefinition = default dict $parentDefinition -}}
        {{- if dig "enabled" (dig "enabled" true $defaults) $parentDefinition -}}
          {{- $related := dict "source" (dig "related" dict $defaults) "target" (dig "related" dict $parentDefinition) -}}
          {{- $related = include "metachart.mergeConcatLists" (dict "params" $related) | fromJson -}}
          {{- range $name, $definition := dig $kind dict $related -}}
            {{- $definition = default dict $definition -}}
            {{- if dig "enabled" $enabled $definition -}}
              {{- if hasKey $result $name -}}{{- fail (printf "Resource %s/%s defined in global and related scopes" $kind $name) -}}{{- end -}}
              {{- $_ := set $result $name (merge (dict "relatedComponent" (printf "%s-%s" $parentKind $parent)) (deepCopy $definition)) -}}
            {{- end -}}
          {{- end -}}
        {{- end -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
{{- toJson $result -}}
{{- end -}}

{{- /* One resource, ready to be printed. params: kind, name, definition */ -}}
{{- define "metachart.buildResource" -}}
{{- $plain := omit $ "params" -}}
{{- $kind := $.params.kind -}}
{{- $key := $.params.name -}}
{{- $definition := $.params.definition -}}
{{- $settings := get (include "metachart.settings" $plain | fromYaml) $kind -}}
{{- $defaults := dig "settings" $kind "defaults" dict $.Values.AsMap -}}
{{- $common := dict "key" $key "component" (printf "%s-%s" $kind $key) "relatedComponent" $definition.relatedComponent -}}
{{- $resource := omit $definition "enabled" "metadata" "related" "relatedComponent" -}}
{{- with $settings.apiVersion -}}{{- $_ := set $resource "apiVersion" . -}}{{- end -}}
{{- with $settings.kindCamelCase -}}{{- $_ := set $resource "kind" . -}}{{- end -}}
{{- $metadata := dict "params" (merge (dict "definition" $definition "defaults" $defaults) $common) -}}
{{- $_ := set $resource "metadata" (include "metachart.resourceMeta" (merge $metadata $plain) | fromJson) -}}
{{- $below := dict "definition" $resource "kind" $kind "without" (list "labels" "annotations" "checksums") -}}
{{- $resource = include "metachart.setDefaults" (merge (dict "params" $below) $plain) | fromJson -}}
{{- if $settings.preprocess -}}
  {{- $given := merge (dict "definition" $resource "name" $resource.metadata.name) $common -}}
  {{- $resource = include (printf "metachart.preprocess.%s" $kind) (merge (dict "params" $given) $plain) | fromJson -}}
  {{- with $resource.Error -}}{{- fail (printf "the preprocessor `metachart.preprocess.%s` did not print a JSON object: %s" $kind .) -}}{{- end -}}
{{- end -}}
{{- $metachart := dict "ResourcePreRendered" (deepCopy $resource) -}}
{{- include "metachart.deepRender" (merge (dict "params" (dict "data" $resource) "Metachart" $metachart) $plain) -}}
{{- end -}}

{{- /* The YAML of one resource. params: kind, name */ -}}
{{- define "metachart.renderSingle" -}}
{{- $plain := omit $ "params" -}}
{{- $found := include "metachart.discover" (merge (dict "params" (dict "kind" $.params.kind)) $plain) | fromJson -}}
{{- if not (hasKey $found $.params.name) -}}{{- fail (printf "can not find resource %s/%s" $.params.kind $.params.name) -}}{{- end -}}
{{- $params := dict "kind" $.params.kind "name" $.params.name "definition" (get $found $.params.name) -}}
{{- include "metachart.buildResource" (merge (dict "params" $params) $plain) | fromJson | toYaml | nindent 0 -}}
{{- end -}}

{{- /* The YAML of all resources of some kinds. params: kinds */ -}}
{{- define "metachart.renderKinds" -}}
{{- $plain := omit $ "params" -}}
{{- range $kind := $.params.kinds -}}
  {{- range $name, $definition := include "metachart.discover" (merge (dict "params" (dict "kind" $kind)) $plain) | fromJson -}}
    {{- $params := dict "kind" $kind "name" $name "definition" $definition -}}
    {{- printf "---%s\n...\n" (include "metachart.buildResource" (merge (dict "params" $params) $plain) | fromJson | toYaml | nindent 0) -}}
  {{- end -}}
{{- end -}}
{{- end -}}

{{- /* The YAML of everything. */ -}}
{{- define "metachart.renderAll" -}}
{{- $kinds := include "metachart.settings" $ | fromYaml | keys | sortAlpha -}}
{{- include "metachart.renderKinds" (merge (dict "params" (dict "kinds" $kinds)) $) -}}
{{- end -}}
